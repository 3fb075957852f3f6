import { relative } from "node:path";
import process from "node:process";

/** The words before the name of a command, if an operator calls it on this runtime, such as `node animal-store.mjs`. */
export const commandPrefix = (): string => `node ${shownPath()}`;

/** The path of the program: from the current folder if the program is below it, otherwise from the root. */
function shownPath(): string {
  const path = process.argv[1];
  const fromHere = relative(process.cwd(), path);
  const shown = fromHere.startsWith("..") ? path : fromHere;
  const isPlain = /^[\w./-]+$/.test(shown);
  return isPlain ? shown : `'${shown.replaceAll("'", "")}'`;
}
