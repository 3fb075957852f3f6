import { backoffMs, type Runtime, sleep } from "../../runtime/runtime.ts";

export interface RetryOptions {
  runtime: Runtime;
  /** Time after which no further attempt begins, in milliseconds. */
  limitMs: number;
  /** Whether an error may be temporary; by default every error. `attempt` counts from 0. */
  isRetryable?: (error: unknown, attempt: number) => boolean;
}

/** Repeats a call, with back-off, until it succeeds. Rejects with the error of the last attempt. */
export async function retry<T>(
  call: () => Promise<T>,
  { runtime, limitMs, isRetryable = () => true }: RetryOptions,
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
