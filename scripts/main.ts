/**
 * `scripts/main.ts COMMAND`: the service and its commands. The tasks of `deno.json` run it on Deno, each with the
 * permissions of its command, and `deno task build` makes it one file for Node. Only the module of that command is loaded.
 */

import process from "node:process";
import { COULD_NOT_RUN } from "../src/life_cycle/exit.ts";
import { callCommandsBy } from "../src/runtime/words.ts";
import { databaseUrl, readCaller } from "../src/settings/config.ts";
import { parseArguments, type TableCommand } from "./cli/table_entry.ts";
import { COMMANDS } from "./commands.ts";

/** The oldest version of Node with all that the program uses. Deno says that it is a later one. */
const OLDEST_NODE = 24;

/** Arguments that a command answers by a text, whatever else is asked. */
const QUESTIONS = ["--help", "-h", "--version"];

// Node warns that some of its modules are experimental, which is of no use to an operator.
process.removeAllListeners("warning");
callCommandsBy(readCaller(), databaseUrl());
await main(process.argv.slice(2));

async function main([name = "--help", ...args]: string[]): Promise<void> {
  const command = commandNamed(name);
  const reason = reasonAgainst(name, command);
  if (reason !== undefined) return fail(reason);
  const question = [name, ...args].find((it) => QUESTIONS.includes(it));
  if (question !== undefined) return await answer(question, command);
  const { command: run } = await command!.load();
  await run(() => parseArguments(command!, args));
}

function commandNamed(name: string): TableCommand | undefined {
  const commands: Record<string, TableCommand> = COMMANDS;
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

/** Why the program cannot do what is asked; `undefined` if it can. */
function reasonAgainst(name: string, command: TableCommand | undefined): string | undefined {
  const { deno, node } = process.versions;
  if (parseInt(node) < OLDEST_NODE) {
    return `The program needs Node ${OLDEST_NODE} or later; this is v${node}`;
  }
  if (command === undefined && !QUESTIONS.includes(name)) {
    return `Unknown command ${JSON.stringify(name)}; see --help`;
  }
  return command?.needsDeno && deno === undefined ? `${name} needs Deno; see --help` : undefined;
}

async function answer(question: string, command: TableCommand | undefined): Promise<void> {
  const { commandList, helpOf, versionLine } = await import("./cli/help.ts");
  if (question === "--version") return console.log(versionLine());
  console.log(command === undefined ? commandList(COMMANDS) : helpOf(command));
}

function fail(reason: string): void {
  console.error(`error: ${reason}`);
  process.exitCode = COULD_NOT_RUN;
}
