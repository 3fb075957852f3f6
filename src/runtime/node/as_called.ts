import { relative } from "node:path";
import process from "node:process";

/** Replaces `deno task` in a text for operators by the call of this program, such as `node animal-store.mjs`. */
export function asCalled(text: string): string {
  return text.replaceAll(/\bdeno task (?=[a-z])/g, () => `node ${shownPath()} `);
}

/** Returns a value as JSON, and does the same in its texts. The path of the program may have characters that JSON escapes. */
export function jsonAsCalled(value: unknown): string {
  return JSON.stringify(value, (_, it) => typeof it === "string" ? asCalled(it) : it);
}

/** The path of the program: from the current folder if the program is below it, otherwise from the root. */
function shownPath(): string {
  const path = process.argv[1];
  const fromHere = relative(process.cwd(), path);
  const shown = fromHere.startsWith("..") ? path : fromHere;
  const isPlain = /^[\w./-]+$/.test(shown);
  return isPlain ? shown : `'${shown.replaceAll("'", "")}'`;
}
