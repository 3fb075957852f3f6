/** The supervisor of several processes of the service: starts them, restarts them, and ends them. */

import { spawn } from "node:child_process";
import process from "node:process";
import { isatty } from "node:tty";
import { serviceCommand } from "this-runtime/service_command.ts";
import { stderrLogger } from "../../src/runtime/stderr_logger.ts";
import type { LocatedConfig } from "../../src/settings/config.ts";
import { type ChildProcess, KeptProcess } from "./kept_process.ts";
import { reservePort } from "./reserve_port.ts";

/** Resolves to the highest exit code of `count` processes when all have ended. Rejects with `ListenError`. */
export async function supervise(count: number, config: LocatedConfig): Promise<number> {
  const port = await reservePort(config);
  const { store } = config;
  // The environment may name the file by a symbolic link.
  const file: Record<string, string> = store.kind === "file" ? { KV_PATH: store.path } : {};
  const start = (number: number) => startProcess(number, port, file);
  const processes = Array.from({ length: count }, (_, index) => new KeptProcess(index + 1, start));
  const stop = (signal: NodeJS.Signals) => {
    for (const it of processes) it.stop(signal);
  };
  onSignals(processes, stop);
  const run = (it: KeptProcess) => it.run().finally(() => stop("SIGTERM"));
  const [first, ...others] = processes;
  const firstCode = run(first);
  // The others follow the first one: a fault that stops all is said once, and only one process makes a new store.
  await Promise.race([first.firstReady, firstCode]);
  return Math.max(...await Promise.all([firstCode, ...others.map(run)]));
}

function onSignals(processes: KeptProcess[], stop: (signal: NodeJS.Signals) => void): void {
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM"] as const) {
    process.on(signal, () => stop(signal));
  }
  // On a terminal, the signal means that the terminal was closed.
  const restartsAtHangUp = !isatty(0);
  let restarts = Promise.resolve();
  process.on("SIGHUP", () => {
    if (restartsAtHangUp) restarts = restarts.then(() => restartAll(processes));
    else stop("SIGHUP");
  });
}

/** Restarts the processes one by one: each ends when the successor of the one before is ready. */
async function restartAll(processes: KeptProcess[]): Promise<void> {
  for (const it of processes) {
    stderrLogger("info", "process_restarting", { process: it.number });
    if (await it.restart()) continue;
    const remedy = "Correct what its last lines say, and send SIGHUP again";
    return stderrLogger("error", "restart_failed", { process: it.number, remedy });
  }
  stderrLogger("info", "restarted", { processes: processes.length });
}

function startProcess(
  number: number,
  port: number,
  variables: Record<string, string>,
): ChildProcess {
  const [program, args] = serviceCommand();
  return spawn(program, args, {
    env: {
      ...process.env,
      ...variables,
      PORT: String(port),
      SUPERVISED_PROCESS: String(number),
      SUPERVISOR_PID: String(process.pid),
    },
    // The process writes to standard output once it is ready.
    stdio: ["ignore", "pipe", "inherit"],
  });
}
