/** How operators call the commands of this program. Every text that advises a command gets its words from here. */

import { commandPrefix } from "./command_prefix.ts";

let program: string | undefined;

/** Settles at the start that a program such as `pets` runs the commands. Without one, the runtime does. */
export function callCommandsBy(name: string | undefined): void {
  program = name;
}

/**
 * A command, with its arguments if there are any, as an operator calls it. For `audit`, it is `deno task audit`,
 * `node animal-store.mjs audit` or `pets audit`.
 */
export function commandName(command: string): string {
  return `${program ?? commandPrefix()} ${command}`;
}

/** The name of a new file that an advice gives to a command. The user of `pets` may write into this folder. */
export function newFileName(name: string): string {
  return program === undefined ? name : `/var/lib/animal-store/${name}`;
}
