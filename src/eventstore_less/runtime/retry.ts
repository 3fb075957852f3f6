import { backoffMs, type Runtime, sleep } from "./runtime.ts";

/**
 * Repeats a call, with back-off, until it succeeds, the time is over, or `isRetryable` (`attempt` from 0) is false. The
 * call gets the time that is left, in milliseconds.
 */
export async function retry<T>(
  call: (leftMs: number) => Promise<T>,
  runtime: Runtime,
  limitMs: number,
  isRetryable: (error: unknown, attempt: number) => boolean,
): Promise<T> {
  const deadline = runtime.monotonicNow() + limitMs;
  let leftMs = limitMs;
  for (let attempt = 0;; attempt++) {
    try {
      return await call(leftMs);
    } catch (error) {
      const pauseMs = backoffMs(runtime, attempt);
      const isLate = runtime.monotonicNow() + pauseMs >= deadline;
      if (isLate || !isRetryable(error, attempt)) throw error;
      await sleep(runtime, pauseMs);
      leftMs = deadline - runtime.monotonicNow();
    }
  }
}
