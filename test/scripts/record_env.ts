/** Preloaded before a program: writes the name of each variable that it reads to standard error. */

const { get } = Deno.env;
Deno.env.get = (name) => {
  // Not by console, which reads NO_COLOR.
  Deno.stderr.writeSync(new TextEncoder().encode(`${name}\n`));
  return get.call(Deno.env, name);
};
