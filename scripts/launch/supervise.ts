import { setTimeout as sleep } from "node:timers/promises";
import { exitCodeOf } from "../../src/life_cycle/exit.ts";
import { stderrLogger } from "../../src/runtime/stderr_logger.ts";

/** The first and the longest delay before a process starts again, in milliseconds. */
const BACKOFF_FIRST_MS = 100;
const BACKOFF_LIMIT_MS = 5_000;

/** Time for a start, in milliseconds. */
const START_LIMIT_MS = 10_000;

/**
 * Runs a program once, or as several processes with numbers from 1, each of which starts again if it ends. `stop` sends
 * a signal to all. `ended` resolves to the exit code, and rejects if the processes cannot start.
 */
export function supervise(count: number, start: (number: number) => Deno.ChildProcess) {
  const running = new Set<Deno.ChildProcess>();
  const stopping = new AbortController();
  let earlyErrors = 0;
  const stop = (signal: Deno.Signal): void => {
    stopping.abort();
    for (const process of running) {
      try {
        process.kill(signal);
      } catch {
        // The process has ended.
      }
    }
  };
  const run = async (number: number): Promise<number> => {
    for (let delayMs = BACKOFF_FIRST_MS; !stopping.signal.aborted; delayMs *= 2) {
      const startedAt = performance.now();
      const process = start(number);
      running.add(process);
      const { code, signal } = await process.status;
      running.delete(process);
      if (count === 1 || stopping.signal.aborted) return exitCodeOf({ code, signal });
      const level = code === 0 ? "info" : "error";
      stderrLogger(level, "process_ended", { process: number, code, signal });
      const launcherAgeMs = performance.now();
      // Two errors at the start of the launcher mean that a setting or the store is wrong.
      if (code > 0 && signal === null && launcherAgeMs < START_LIMIT_MS) earlyErrors++;
      if (earlyErrors > 1) throw new Error("Processes ended with an error twice during the start");
      if (launcherAgeMs - startedAt > START_LIMIT_MS) delayMs = BACKOFF_FIRST_MS;
      delayMs = Math.min(delayMs, BACKOFF_LIMIT_MS);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
    return 0;
  };
  const codes = Promise.all(Array.from({ length: count }, (_, index) => run(index + 1)));
  return { ended: codes.then((all) => Math.max(...all)), stop };
}
