import { setTimeout as sleep } from "node:timers/promises";
import { exitCodeOf } from "../../src/life_cycle/exit.ts";
import { stderrLogger } from "../../src/runtime/stderr_logger.ts";

/** The first and the longest delay before a process starts again, in milliseconds. */
const BACKOFF_FIRST_MS = 100;
const BACKOFF_LIMIT_MS = 5_000;

/** A launcher or a process that is older has started, in milliseconds. */
const START_LIMIT_MS = 10_000;

/**
 * Runs a program once, or as several processes with numbers from 1, each of which starts again if it ends before `stop`,
 * which sends a signal to all. `ended` resolves to the highest exit code. It rejects if processes end with an error twice
 * while the launcher starts.
 */
export function supervise(count: number, start: (number: number) => Deno.ChildProcess) {
  const running = new Set<Deno.ChildProcess>();
  const stopping = new AbortController();
  const begunAt = performance.now();
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
      const { signal, ...status } = await process.status;
      const code = exitCodeOf({ ...status, signal });
      running.delete(process);
      if (count === 1 || stopping.signal.aborted) return code;
      const level = code === 0 ? "info" : "error";
      stderrLogger(level, "process_ended", { process: number, code, signal });
      const endedAt = performance.now();
      // Two errors at the start mean that a setting or the store is wrong. A process that was killed says nothing.
      if ([1, 2].includes(code) && endedAt - begunAt < START_LIMIT_MS) earlyErrors++;
      if (earlyErrors > 1) throw new Error("Processes ended with an error twice during the start");
      if (endedAt - startedAt > START_LIMIT_MS) delayMs = BACKOFF_FIRST_MS;
      delayMs = Math.min(delayMs, BACKOFF_LIMIT_MS);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
    return 0;
  };
  const codes = Promise.all(Array.from({ length: count }, (_, index) => run(index + 1)));
  return { ended: codes.then((all) => Math.max(...all)), stop };
}
