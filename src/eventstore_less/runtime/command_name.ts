/** The words of the tools, which go once their errors have data instead. */

import { words } from "../words.ts";

export const commandName = (command: string): string => words().command(command);

export const newFileName = (name: string): string => words().newFile(name);
