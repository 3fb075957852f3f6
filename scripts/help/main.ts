/** Lists the commands of operators, for `pets` without arguments on Deno. */

import process from "node:process";
import { callCommandsBy } from "../../src/runtime/words.ts";
import { readCaller } from "../../src/settings/config.ts";
import { NAME, VERSION } from "../../src/settings/version.ts";
import { commandList } from "../cli/command_list.ts";

callCommandsBy(readCaller());
console.log(process.argv.includes("--version") ? `${NAME} ${VERSION}` : commandList());
