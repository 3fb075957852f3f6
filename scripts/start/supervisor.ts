/**
 * `deno task start` with `PROCESSES`: starts the processes of the service, restarts them, and ends them. Its permissions
 * allow it to run programs, to read settings, and to reserve the port; it cannot open the store.
 */

import { spawn } from "node:child_process";
import process from "node:process";
import { isatty } from "node:tty";
import { serviceCommand } from "this-runtime/service_command.ts";
import { endWithParent } from "../../src/life_cycle/parent.ts";
import { runProgram } from "../../src/life_cycle/run_program.ts";
import { readServiceConfig } from "../../src/settings/config.ts";
import { COMMANDS } from "../cli/commands.ts";
import { exitWithHelp } from "../cli/help.ts";
import { type ChildProcess, Processes } from "./processes.ts";
import { reservePort } from "./reserve_port.ts";

exitWithHelp(COMMANDS.start);
await runProgram(supervise);

async function supervise(): Promise<number> {
  const config = readServiceConfig();
  const port = await reservePort(config);
  const processes = new Processes(config.processes, (number) => startProcess(number, port));
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM"] as const) {
    process.on(signal, () => processes.stop(signal));
  }
  // On a terminal, the signal means that the terminal was closed.
  const restartsAtHangUp = !isatty(0);
  process.on("SIGHUP", () => {
    if (restartsAtHangUp) void processes.restart();
    else processes.stop("SIGHUP");
  });
  endWithParent();
  return await processes.run();
}

function startProcess(number: number, port: number): ChildProcess {
  const [program, args] = serviceCommand();
  return spawn(program, args, {
    env: {
      ...process.env,
      PORT: String(port),
      SUPERVISED_PROCESS: String(number),
      SUPERVISOR_PID: String(process.pid),
    },
    // The process writes to standard output once it listens.
    stdio: ["ignore", "pipe", "inherit"],
  });
}
