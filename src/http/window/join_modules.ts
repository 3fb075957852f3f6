/**
 * Joins the modules of the window into one script, because a browser loads one file faster than dozens, and in gzip, one
 * file has little more than half of their bytes. Each module keeps a scope of its own.
 */

/** An import of names from a module of the same folder, as `deno fmt` writes it. */
const IMPORT = /^import (\{[^}]*\}) from "\.\/(\w+)\.js";\n/gm;
/** An export of a declaration; the names are those of `{ a, b }` or of one function, class or constant. */
const EXPORT = /^export ((?:async function|function|const|class) (\{[^}]*\}|\w+))/gm;
const COMMENT = /^ *(?:\/\/.*|\/\*\*[^]*?\*\/)\n/gm;

/** `texts` are the modules by their names, such as `state.js`. The result runs `main.js` after all that it imports. */
export function joinModules(texts: Record<string, string>): string {
  const joined = new Map<string, string>();
  const join = (name: string, importers: readonly string[]) => {
    if (joined.has(name)) return;
    if (importers.includes(name)) throw new Error(`${name}.js imports itself`);
    const text = texts[`${name}.js`];
    if (text === undefined) throw new Error(`${name}.js is not a module of the window`);
    for (const [, , imported] of text.matchAll(IMPORT)) join(imported, [...importers, name]);
    joined.set(name, scopeOf(name, text));
  };
  join("main", []);
  return [...joined.values()].join("\n");
}

/** A module as a constant with its exports. The name begins with `$`, because an export may have that of its module. */
function scopeOf(name: string, text: string): string {
  const exports = Array.from(text.matchAll(EXPORT), ([, , names]) => names.replaceAll(/[{}]/g, ""));
  const body = text
    .replaceAll(COMMENT, "")
    .replaceAll(IMPORT, (_, names, imported) => `const ${names} = $${imported};\n`)
    .replaceAll(EXPORT, "$1");
  const other = /^(?:import|export)\b.*/m.exec(body);
  if (other !== null) throw new Error(`${name}.js has a line that cannot be joined: ${other[0]}`);
  return `const $${name} = (() => {\n${body}return { ${exports.join(", ")} };\n})();\n`;
}
