/** What a source imports, of whatever kind the import is. */
export interface Import {
  kind: "static" | "types" | "dynamic" | "url";
  /** The specifier; `undefined` if it is not a text in the source. */
  specifier: string | undefined;
}

/** A comment of several lines, or one at the start of a line. */
export const COMMENTS = /\/\*\*?\s[^]*?\*\/|^\s*\/\/.*$/gm;

const PATTERNS: [kind: Import["kind"], pattern: RegExp][] = [
  ["types", /\b(?:im|ex)port type\b[^;"]*?\bfrom "([^"]+)"/g],
  ["static", /\b(?:im|ex)port\b(?! type\b)[^;"()]*?\bfrom "([^"]+)"|\bimport "([^"]+)"/g],
  ["dynamic", /\bimport\(\s*(?:"([^"]+)")?|\brequire\(\s*(?:"([^"]+)")?/g],
  [
    "url",
    /\bnew URL\(\s*(?:"([^"]+)")?[^,;]*, import\.meta\.url|\bimport\.meta\.resolve\(\s*(?:"([^"]+)")?/g,
  ],
];

/** The imports of a source, also those in the texts of its workers, without its comments. */
export function importsOf(source: string): Import[] {
  const code = source.replace(COMMENTS, "");
  return PATTERNS.flatMap(([kind, pattern]) =>
    [...code.matchAll(pattern)].map(([, one, other]) => ({ kind, specifier: one ?? other }))
  );
}
