/** Lists the commands of operators, for `pets` without arguments on Deno. */

import { callCommandsBy } from "eventstore-less";
import process from "node:process";
import { readCaller } from "../../src/settings/config.ts";
import { commandList } from "../cli/command_list.ts";
import { versionLine } from "../cli/help.ts";

callCommandsBy(readCaller());
console.log(process.argv.includes("--version") ? versionLine() : commandList());
