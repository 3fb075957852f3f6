import { relative } from "node:path";
import process from "node:process";

/** Names the commands in a text for operators as they are called: `node animal-store.mjs keys`, from this folder. */
export function asCalled(text: string): string {
  return text.replaceAll(/\bdeno task (?=[a-z])/g, () => `node ${shownPath()} `);
}

/** The path of the program: the shorter one of that from this folder and that from the root. */
function shownPath(): string {
  const path = process.argv[1];
  const fromHere = relative(process.cwd(), path);
  const shown = fromHere.startsWith("..") ? path : fromHere;
  const isPlain = /^[\w./-]+$/.test(shown);
  return isPlain ? shown : `'${shown.replaceAll("'", "")}'`;
}
