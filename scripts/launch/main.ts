/** Runs a command with only the permissions that its settings and arguments need, which a task cannot compute. */

import { exitAfterLog } from "../../src/life_cycle/exit.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { writeError } from "../../src/runtime/stderr_logger.ts";
import { readServiceConfig } from "../../src/settings/config.ts";
import { exitWithHelp } from "../cli/help.ts";
import { type CommandName, COMMANDS, moduleOf } from "./commands.ts";
import { permissionFlags } from "./permission_flags.ts";
import { reservePort } from "./reserve_port.ts";
import { supervise } from "./supervise.ts";
import { telemetryVariables } from "./telemetry_variables.ts";

/** Keeps the heap small. A command that reads the whole log makes much garbage, so its young generation may be larger. */
const SMALL_HEAP = "--v8-flags=--max-semi-space-size=32,--heap-growing-percent=50";

const [name, ...args] = Deno.args as [CommandName, ...string[]];
const module = moduleOf(name);

// The other commands read their arguments themselves.
if (name === "start") exitWithHelp(COMMANDS.start, args);

let stop = (_signal: Deno.Signal): void => Deno.exit(2);

// The program decides how to handle a signal; this process must run as long as the program.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => stop(signal));
}

try {
  const config = name === "start" ? readServiceConfig() : undefined;
  const flags = [...(config ? [] : [SMALL_HEAP]), ...permissionFlags(name, args)];
  const isShared = config !== undefined && config.processes > 1;
  const shared = isShared
    ? { PORT: String(reservePort(config)), LAUNCHER_PID: String(Deno.pid) }
    : undefined;
  const running = supervise(config?.processes ?? 1, (number) =>
    new Deno.Command(Deno.execPath(), {
      args: ["run", ...flags, module, ...args],
      env: {
        ...telemetryVariables(module, Deno.env.toObject()),
        ...shared && { ...shared, LAUNCHED_PROCESS: String(number) },
      },
      stdin: shared ? "piped" : "inherit",
    }).spawn());
  stop = running.stop;
  await exitAfterLog(await running.ended);
} catch (error) {
  writeError(`error: ${reasonOf(error)}`);
  await exitAfterLog(2);
}
