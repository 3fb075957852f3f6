/**
 * The npm packages that only tests need, apart from small ones. `deno task` downloads every package of the lock
 * file of the project, so `deno.lock` does not hold these: `test/deno.lock` does, which `deno task test` uses.
 */
const SPECIFIERS = {
  "@redocly/openapi-core": "npm:@redocly/openapi-core@2.64.0",
  "openapi-typescript": "npm:openapi-typescript@7.13.0",
  "playwright-core": "npm:playwright-core@1.65.1",
};

/** Imports one of these packages at run time only, because Deno resolves a literal specifier at every start. */
export async function importTestPackage(name: keyof typeof SPECIFIERS) {
  try {
    return await import(SPECIFIERS[name]);
  } catch (cause) {
    const hint = "run the test with deno task test, or with --lock=test/deno.lock";
    throw new Error(`Cannot import ${name}: ${hint}`, { cause });
  }
}
