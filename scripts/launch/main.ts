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

/** A service ends within five seconds after a signal, in milliseconds. One that does not was stopped, or hangs. */
const END_LIMIT_MS = 6_000;

/** How often a launcher looks whether its parent has been killed, in milliseconds. */
const PARENT_INTERVAL_MS = 1_000;

const [name, ...args] = Deno.args as [CommandName, ...string[]];
const module = moduleOf(name);

// The other commands read their arguments themselves.
if (name === "start") exitWithHelp(COMMANDS.start, args);

let onSignal = (_signal: Deno.Signal): void => Deno.exit(2);

// The program decides how to handle a signal; this process must run as long as the program.
for (const signal of ["SIGHUP", "SIGINT", "SIGQUIT", "SIGTERM"] as const) {
  Deno.addSignalListener(signal, () => onSignal(signal));
}

/** A service restarts at SIGHUP. If it was started on a terminal, the signal means that the terminal was closed. */
const restartsAtHangUp = name === "start" && !Deno.stdin.isTerminal();

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
      stdout: shared ? "piped" : "inherit",
    }).spawn(), config && END_LIMIT_MS);
  onSignal = (signal) => {
    if (signal === "SIGHUP" && restartsAtHangUp) void running.restart();
    else running.stop(signal);
  };
  if (config) onParentKilled(() => running.stop("SIGTERM"));
  await exitAfterLog(await running.ended);
} catch (error) {
  writeError(`error: ${reasonOf(error)}`);
  await exitAfterLog(2);
}

/** Without this, a service would serve on after a SIGKILL of `deno task`, and keep its port. */
function onParentKilled(stop: () => void): void {
  const parent = Deno.ppid;
  const watch = setInterval(() => {
    if (Deno.ppid === parent) return;
    clearInterval(watch);
    stop();
  }, PARENT_INTERVAL_MS);
  Deno.unrefTimer(watch);
}
