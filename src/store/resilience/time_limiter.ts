import type { Runtime } from "../../runtime/runtime.ts";

/** Limits the duration of calls. A call that is late is rejected but not cancelled, and its result is dropped. */
export class TimeLimiter {
  #runtime: Runtime;
  #limitMs: number;
  /** The functions that reject the unsettled calls. */
  #unsettled = new Set<(error: Error) => void>();

  constructor(runtime: Runtime, limitMs: number) {
    this.#runtime = runtime;
    this.#limitMs = limitMs;
  }

  /** Makes a call. Rejects with {@linkcode TimeLimitError} at the limit. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        cancelTimer();
        this.#unsettled.delete(fail);
      };
      const fail = (error: Error) => {
        settle();
        reject(error);
      };
      const cancelTimer = this.#runtime.setTimer(
        this.#limitMs,
        () => fail(new TimeLimitError(this.#limitMs)),
      );
      this.#unsettled.add(fail);
      call().then((value) => {
        settle();
        resolve(value);
      }, fail);
    });
  }

  /** Rejects all calls that have not settled. */
  rejectAll(error: Error): void {
    for (const fail of [...this.#unsettled]) fail(error);
  }
}

export class TimeLimitError extends Error {
  override name = "TimeLimitError";

  constructor(limitMs: number) {
    super(`No answer within ${limitMs} ms`);
  }
}
