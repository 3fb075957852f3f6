/**
 * `node animal-store.mjs COMMAND`: the service and its commands on Node, in one file that `deno task build` makes. Their
 * modules are loaded only when they are called.
 */

import process from "node:process";
import { callCommandsBy } from "../../src/runtime/words.ts";
import { readCaller } from "../../src/settings/config.ts";
import { NAME } from "../../src/settings/version.ts";
import { commandList } from "../cli/command_list.ts";
import { COMMANDS } from "../cli/commands.ts";
import { versionLine } from "../cli/help.ts";

/** The oldest version of Node with all that the program uses. */
const OLDEST_NODE = 24;

const COULD_NOT_RUN = 2;

const LOADERS: Record<string, () => Promise<unknown>> = {
  start: () => import("../start/main.ts"),
  keys: () => import("../keys/main.ts"),
  log: () => import("../log/main.ts"),
  backup: () => import("../backup/main.ts"),
  replay: () => import("../replay/main.ts"),
  audit: () => import("../audit/main.ts"),
  schema: () => import("../schema/main.ts"),
  publish: () => import("../publish/main.ts"),
  prove: () => import("../prove/main.ts"),
  restore: () => import("../restore/main.ts"),
};

hideWarnings();
await run();

async function run(): Promise<void> {
  const [name = "--help"] = process.argv.slice(2);
  const [major] = process.versions.node.split(".");
  if (Number(major) < OLDEST_NODE) {
    return fail(`${NAME} needs Node ${OLDEST_NODE} or later; this is ${process.version}`);
  }
  if (name === "--version") return console.log(versionLine());
  if (name === "--help" || name === "-h") {
    callCommandsBy(readCaller());
    return console.log(commandList());
  }
  if (!Object.hasOwn(LOADERS, name)) {
    const isOfDeno = Object.hasOwn(COMMANDS, name);
    const reason = isOfDeno ? `${name} needs Deno` : `Unknown command ${JSON.stringify(name)}`;
    return fail(`${reason}; see --help`);
  }
  // A command does not fail if the reader of its standard error has ended. The service has a writer of its own.
  if (name !== "start") process.stderr.on("error", () => {});
  // Each command takes all that follows the name of the program for its arguments.
  process.argv.splice(2, 1);
  await LOADERS[name]();
}

/** Node warns that some of its modules are experimental, which is of no use to an operator. */
function hideWarnings(): void {
  process.removeAllListeners("warning");
}

function fail(reason: string): void {
  console.error(`error: ${reason}`);
  process.exitCode = COULD_NOT_RUN;
}
