import { setTimeout as sleep } from "node:timers/promises";
import { exitCodeOf } from "../../src/life_cycle/exit.ts";
import { stderrLogger } from "../../src/runtime/stderr_logger.ts";

/** The first and the longest delay before a process starts again, in milliseconds. */
const BACKOFF_FIRST_MS = 100;
const BACKOFF_LIMIT_MS = 5_000;

/** A launcher or a process that is older has started, in milliseconds. */
const START_LIMIT_MS = 10_000;

/** Time in which the successor of a restarted process must listen, in milliseconds. */
const LISTEN_LIMIT_MS = 60_000;

/** A process, and whether it listens before it ends. */
interface Run {
  process: Deno.ChildProcess;
  listening: Promise<boolean>;
}

/**
 * Runs a program once, or as several processes with numbers from 1, each of which starts again if it ends before `stop`,
 * which sends a signal to all. Each of several processes has a piped standard output, on which it writes once it listens.
 * `ended` resolves to the highest exit code. It rejects if processes end with an error twice while the launcher starts.
 * `restart` ends the processes one by one, and waits for the successor of each. A process that has not ended `endLimitMs`
 * after its signal is killed: without a limit, a stopped process would keep the launcher alive.
 */
export function supervise(
  count: number,
  start: (number: number) => Deno.ChildProcess,
  endLimitMs?: number,
) {
  const runs = new Map<number, Run>();
  const successors = new Map<number, (run: Run) => void>();
  const stopping = new AbortController();
  const begunAt = performance.now();
  let earlyErrors = 0;
  let restarted = Promise.resolve();
  const startRun = (number: number): Run => {
    const process = start(number);
    const listening = count === 1 ? Promise.resolve(true) : writesOutput(process);
    return { process, listening };
  };
  const runAlways = async (number: number): Promise<number> => {
    let delayMs = BACKOFF_FIRST_MS;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      const run = startRun(number);
      runs.set(number, run);
      successors.get(number)?.(run);
      successors.delete(number);
      const { signal, ...status } = await run.process.status;
      const code = exitCodeOf({ ...status, signal });
      runs.delete(number);
      if (stopping.signal.aborted) return code;
      // A restart waits for the next process.
      if (successors.has(number)) continue;
      if (count === 1) return code;
      const level = code === 0 ? "info" : "error";
      stderrLogger(level, "process_ended", { process: number, code, signal });
      const endedAt = performance.now();
      // Two errors at the start mean that a setting or the store is wrong. A process that was killed says nothing.
      if ([1, 2].includes(code) && endedAt - begunAt < START_LIMIT_MS) earlyErrors++;
      if (earlyErrors > 1) throw new Error("Processes ended with an error twice during the start");
      if (endedAt - startedAt > START_LIMIT_MS) delayMs = BACKOFF_FIRST_MS;
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
      delayMs = Math.min(2 * delayMs, BACKOFF_LIMIT_MS);
    }
    return 0;
  };
  /** Resolves to whether the successor of a process listens, or the process has no need of one. */
  const restartOne = async (number: number): Promise<boolean> => {
    const run = runs.get(number);
    // It has ended by itself, and starts again anyway.
    if (run === undefined) return true;
    const { promise: succeeded, resolve } = Promise.withResolvers<Run>();
    successors.set(number, resolve);
    // A process that shares its port first lets its clients connect to the others.
    end(run.process, "SIGHUP", endLimitMs);
    const successor = await succeeded;
    return await Promise.race([successor.listening, sleep(LISTEN_LIMIT_MS, false)]);
  };
  const restartAll = async (): Promise<void> => {
    for (let number = 1; number <= count; number++) {
      stderrLogger("info", "process_restarting", { process: number });
      if (await restartOne(number)) continue;
      const remedy = "Correct what its last lines say, and send SIGHUP again";
      return stderrLogger("error", "restart_failed", { process: number, remedy });
    }
    stderrLogger("info", "restarted", { processes: count });
  };
  const stop = (signal: Deno.Signal): void => {
    stopping.abort();
    for (const { process } of runs.values()) end(process, signal, endLimitMs);
  };
  const restart = (): Promise<void> => restarted = restarted.then(restartAll);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const codes = Promise.all(numbers.map(runAlways));
  return { ended: codes.then((all) => Math.max(...all)), restart, stop };
}

function end(process: Deno.ChildProcess, signal: Deno.Signal, limitMs: number | undefined): void {
  kill(process, signal);
  if (limitMs === undefined) return;
  const timer = setTimeout(() => kill(process, "SIGKILL"), limitMs);
  process.status.then(() => clearTimeout(timer));
}

function kill(process: Deno.ChildProcess, signal: Deno.Signal): void {
  try {
    process.kill(signal);
  } catch {
    // The process has ended.
  }
}

/** Resolves to whether a process writes to its standard output before it ends. */
async function writesOutput({ stdout }: Deno.ChildProcess): Promise<boolean> {
  const { done } = await stdout.getReader().read();
  return !done;
}
