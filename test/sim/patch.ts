/** Patches of sources. A patch names a declaration and a short text in it, so changes around these do not break it. */

export interface Patch {
  name: string;
  file: string;
  /** By the name of a declaration: a text that it has exactly once, in any layout, and its replacement. */
  edits: Record<string, [text: string, instead: string]>;
}

/** Returns a source with the edits of a patch. Throws unless each of them names exactly one place. */
export function patched({ name, file, edits }: Patch, source: string): string {
  const expectOnce = (found: RegExpMatchArray | null, place: string) => {
    const count = found?.length ?? 0;
    if (count === 1) return;
    throw new Error(`Mutant "${name}": ${file} has ${count} places, not 1, with ${place}`);
  };
  for (const [declaration, [text, instead]] of Object.entries(edits)) {
    const pattern = declarationPattern(declaration);
    expectOnce(source.match(pattern), `a declaration of ${declaration}`);
    source = source.replace(pattern, (body) => {
      expectOnce(body.match(textPattern(text)), `"${text}" in ${declaration}:\n${body}`);
      return body.replace(textPattern(text), () => instead);
    });
  }
  return source;
}

const MODIFIERS = "(?:(?:export|async|static|readonly|get|const|let|class|function\\*?) )*";

/**
 * Matches the declarations of a name: functions, constants, classes, members and properties. The format of `deno fmt`
 * shows where one ends: every later line of it is empty, indented further, or begins with a closing bracket.
 */
function declarationPattern(name: string): RegExp {
  const notCalled = "(?![\\w$]|\\(.*;$)";
  const laterLines = "(?:\n(?:\\1[ )}\\]].*)?)*";
  return new RegExp(`^( *)${MODIFIERS}${RegExp.escape(name)}${notCalled}.*${laterLines}`, "gm");
}

/** Matches a text with any white space between its words and signs. */
function textPattern(text: string): RegExp {
  const tokens = text.match(/[\w$]+|\S/g) ?? [];
  return new RegExp(tokens.map(RegExp.escape).join("\\s*"), "g");
}
