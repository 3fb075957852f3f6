import { setTimeout as sleep } from "node:timers/promises";
import { exitCodeOf } from "../../src/life_cycle/exit.ts";
import { reasonOf } from "../../src/runtime/logger.ts";
import { stderrLogger } from "../../src/runtime/stderr_logger.ts";

/** The first and the longest delay before a process starts again, in milliseconds. */
const BACKOFF_FIRST_MS = 100;
const BACKOFF_LIMIT_MS = 5_000;

/** A process that ran for this time, in milliseconds, had started. */
const STARTED_MS = 5_000;

/** If so many first starts fail, the cause is a setting or the store, and all processes end. */
const FAILED_STARTS_LIMIT = 2;

interface Outcome {
  code: number;
  signal: string | null;
  reason?: string;
}

/**
 * Runs a program once or, if `count` is larger than 1, as processes with numbers from 1, each of which starts again if
 * it ends. `stop` sends a signal to all. `ended` resolves to the exit code.
 */
export function supervise(count: number, start: (number: number) => Deno.ChildProcess) {
  const running = new Set<Deno.ChildProcess>();
  const stopping = new AbortController();
  let failedStarts = 0;
  let failure: number | undefined;

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

  const runOnce = async (number: number): Promise<Outcome> => {
    const process = start(number);
    running.add(process);
    const { code, signal } = await process.status;
    running.delete(process);
    return { code, signal };
  };

  /** Resolves to the exit code after a signal to all. */
  const keepRunning = async (number: number): Promise<number> => {
    let delayMs = BACKOFF_FIRST_MS;
    for (let hasStarted = false; !stopping.signal.aborted;) {
      const startedAt = performance.now();
      // The system may lack the memory for a process.
      const failed = (error: unknown) => ({ code: 2, signal: null, reason: reasonOf(error) });
      const outcome = await runOnce(number).catch(failed);
      if (stopping.signal.aborted) return exitCodeOf(outcome);
      const level = outcome.code === 0 ? "info" : "error";
      stderrLogger(level, "process_ended", { process: number, ...outcome });
      const wasLong = performance.now() - startedAt > STARTED_MS;
      hasStarted ||= wasLong || outcome.signal !== null || outcome.code === 0;
      if (!hasStarted && ++failedStarts === FAILED_STARTS_LIMIT) {
        failure = exitCodeOf(outcome);
        stop("SIGTERM");
      }
      if (wasLong) delayMs = BACKOFF_FIRST_MS;
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => {});
      delayMs = Math.min(2 * delayMs, BACKOFF_LIMIT_MS);
    }
    return 0;
  };

  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const ended = count === 1
    ? runOnce(1).then(exitCodeOf)
    : Promise.all(numbers.map(keepRunning)).then((codes) => failure ?? Math.max(...codes));
  return { ended, stop };
}
