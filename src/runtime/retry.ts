import { backoffMs, type Runtime, sleep } from "./runtime.ts";

/** Repeats a call, with back-off, until it succeeds, the time is over, or `isRetryable` (`attempt` from 0) is false. */
export async function retry<T>(
  call: () => Promise<T>,
  runtime: Runtime,
  limitMs: number,
  isRetryable: (error: unknown, attempt: number) => boolean,
): Promise<T> {
  const deadline = runtime.monotonicNow() + limitMs;
  for (let attempt = 0;; attempt++) {
    try {
      return await call();
    } catch (error) {
      const pauseMs = backoffMs(runtime, attempt);
      const isLate = runtime.monotonicNow() + pauseMs >= deadline;
      if (isLate || !isRetryable(error, attempt)) throw error;
      await sleep(runtime, pauseMs);
    }
  }
}
