/** Runs a command with only the permissions that its settings and arguments need, which a task cannot compute. */

import { exitCodeOf } from "../../src/life_cycle/exit.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { exitWithHelp } from "../cli/help.ts";
import { type CommandName, COMMANDS, moduleOf } from "./commands.ts";
import { permissionFlags } from "./permission_flags.ts";
import { telemetryVariables } from "./telemetry_variables.ts";

/** Keeps the heap small. A command that reads the whole log makes much garbage, so its young generation may be larger. */
const SMALL_HEAP = "--v8-flags=--max-semi-space-size=32,--heap-growing-percent=50";

const [name, ...args] = Deno.args as [CommandName, ...string[]];
const denoFlags = name === "start" ? [] : [SMALL_HEAP];
const module = moduleOf(name);

// The other commands read their arguments themselves.
if (name === "start") exitWithHelp(COMMANDS.start, args);

let program: Deno.ChildProcess | undefined = undefined;

// The program decides how to handle a signal; this process must run as long as the program.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => {
    if (program === undefined) Deno.exit(2);
    try {
      program.kill(signal);
    } catch {
      // The program has ended.
    }
  });
}

try {
  program = new Deno.Command(Deno.execPath(), {
    args: ["run", ...denoFlags, ...permissionFlags(name, args), module, ...args],
    env: telemetryVariables(module, Deno.env.toObject()),
  }).spawn();
} catch (error) {
  console.error(`error: ${reasonOf(error)}`);
  Deno.exit(2);
}

Deno.exit(exitCodeOf(await program.status));
