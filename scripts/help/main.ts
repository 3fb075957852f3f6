/** Lists the commands of operators, for `pets` without arguments on Deno. */

import process from "node:process";
import { callCommandsBy } from "../../src/runtime/words.ts";
import { readCaller } from "../../src/settings/config.ts";
import { commandList } from "../cli/command_list.ts";
import { versionLine } from "../cli/help.ts";

callCommandsBy(readCaller());
console.log(process.argv.includes("--version") ? versionLine() : commandList());
