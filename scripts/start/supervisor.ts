/**
 * `deno task start` with `PROCESSES`: starts the processes of the service, restarts them, and ends them. Its permissions
 * allow it to run programs, to read settings, and to reserve the port; it cannot open the store.
 */

import process from "node:process";
import { endWithParent } from "../../src/life_cycle/parent.ts";
import { runProgram } from "../../src/life_cycle/run_program.ts";
import { readServiceConfig } from "../../src/settings/config.ts";
import { COMMANDS } from "../cli/commands.ts";
import { exitWithHelp } from "../cli/help.ts";
import { Processes } from "./processes.ts";
import { reservePort } from "./reserve_port.ts";

/** Deno runs one process of the service as `deno task start` does. */
const SERVICE = ["run", "-q", "--no-prompt", "-P=service", "scripts/start/main.ts"];

exitWithHelp(COMMANDS.start, Deno.args);
await runProgram(supervise);

async function supervise(): Promise<number> {
  const config = readServiceConfig();
  const port = reservePort(config);
  const processes = new Processes(config.processes, (number) => startProcess(number, port));
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM"] as const) {
    process.on(signal, () => processes.stop(signal));
  }
  // On a terminal, the signal means that the terminal was closed.
  const restartsAtHangUp = !Deno.stdin.isTerminal();
  process.on("SIGHUP", () => {
    if (restartsAtHangUp) void processes.restart();
    else processes.stop("SIGHUP");
  });
  endWithParent();
  return await processes.run();
}

function startProcess(number: number, port: number): Deno.ChildProcess {
  return new Deno.Command(Deno.execPath(), {
    args: SERVICE,
    env: {
      PORT: String(port),
      SUPERVISED_PROCESS: String(number),
      SUPERVISOR_PID: String(Deno.pid),
    },
    stdin: "null",
    // The process writes to it once it listens.
    stdout: "piped",
  }).spawn();
}
