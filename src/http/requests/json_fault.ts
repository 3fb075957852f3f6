/** The first place at which a text is not JSON (RFC 8259). The messages of `JSON.parse` vary with V8. */
export interface JsonFault {
  /** Counted from 1, as is the column. */
  line: number;
  /** Counted in code points. */
  column: number;
  expected: string;
  /** At most two characters of the text, or a well-known word, because the text may hold a secret. */
  found: string;
}

type State = "value" | "first value" | "name" | "first name" | "colon" | "rest";

const SPACE = /[ \t\n\r]*/y;
const SCALAR = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

/** The longest start of a string. Its group is the closing quotation mark. */
const STRING_START =
  /"[ !#-[\]-\u{10ffff}]*(?:\\(?:["\\/bfnrt]|u[\da-fA-F]{4})[ !#-[\]-\u{10ffff}]*)*("?)/uy;

/** Values of other languages that JSON does not have. */
const FOREIGN_WORD = /(?:NaN|Infinity|undefined|None|True|False)\b/y;

/** Returns `undefined` if the text is JSON. Needs no recursion, so the text may be nested to any depth. */
export function findJsonFault(text: string): JsonFault | undefined {
  /** The brackets that close what is open. */
  const closers: string[] = [];
  let state = "value" as State;
  for (let at = 0;;) {
    at += lengthAt(SPACE, text, at);
    const char = text.charAt(at);
    const closer = closers.at(-1);
    const mayClose = state === "rest" || state === "first value" || state === "first name";
    if (mayClose && closer !== undefined && char === closer) {
      closers.pop();
      state = "rest";
      at++;
    } else if (state === "rest") {
      if (closer === undefined && at === text.length) return undefined;
      if (closer === undefined || char !== ",") return faultAt(text, at, expectedBy(state, closer));
      state = closer === "}" ? "name" : "value";
      at++;
    } else if (state === "colon") {
      if (char !== ":") return faultAt(text, at, expectedBy(state, closer));
      state = "value";
      at++;
    } else if (char === '"') {
      STRING_START.lastIndex = at;
      const [start, closing] = STRING_START.exec(text)!;
      at += start.length;
      if (closing === "") return faultInString(text, at);
      state = state === "name" || state === "first name" ? "colon" : "rest";
    } else if (state === "name" || state === "first name") {
      return faultAt(text, at, expectedBy(state, closer));
    } else if (char === "{" || char === "[") {
      closers.push(char === "{" ? "}" : "]");
      state = char === "{" ? "first name" : "first value";
      at++;
    } else {
      const length = lengthAt(SCALAR, text, at);
      if (length === 0) return faultAt(text, at, expectedBy(state, closer));
      state = "rest";
      at += length;
    }
  }
}

function expectedBy(state: State, closer: string | undefined): string {
  switch (state) {
    case "value":
      return closer === undefined ? "a JSON object" : "a value";
    case "first value":
      return 'a value or "]"';
    case "name":
      return "a field name in double quotes";
    case "first name":
      return 'a field name in double quotes or "}"';
    case "colon":
      return '":"';
    case "rest":
      return closer === undefined ? "the end of the body" : `"," or "${closer}"`;
  }
}

function faultInString(text: string, at: number): JsonFault {
  if (at === text.length) return faultAt(text, at, "the closing quotation mark of a string");
  return faultAt(text, at, text[at] === "\\" ? "an escape of JSON" : "an escape in the string");
}

function faultAt(text: string, at: number, expected: string): JsonFault {
  const lines = text.slice(0, at).split(/\r\n|[\n\r]/);
  return {
    line: lines.length,
    column: [...lines.at(-1)!].length + 1,
    expected,
    found: foundAt(text, at),
  };
}

function foundAt(text: string, at: number): string {
  if (at === text.length) return "the end of the body";
  const word = text.slice(at, at + lengthAt(FOREIGN_WORD, text, at));
  if (word !== "") return `"${word}"`;
  const char = text[at];
  if (char === "\n" || char === "\r") return "a line break";
  if (char === '"') return "a quotation mark";
  // An escape is a backslash and one more character.
  const shown = text.slice(at, char === "\\" ? at + 2 : at + 1);
  if (/^[ -~]+$/.test(shown)) return `"${shown}"`;
  return `U+${text.codePointAt(at)!.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** The length of a match at that place; 0 if there is none. */
function lengthAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0].length ?? 0;
}
