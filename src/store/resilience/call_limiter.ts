import type { Runtime } from "../../runtime/runtime.ts";

interface LimitedCall {
  start: () => void;
  fail: (error: Error) => void;
}

/**
 * Limits the duration of calls, and how many are in flight. Further calls wait, in the order of their arrival. A call
 * that is late is rejected but not cancelled, and its result is dropped.
 */
export class CallLimiter {
  #runtime: Runtime;
  #limitMs: number;
  #limit: number;
  #inFlight = { count: 0 };
  #isPaused = false;
  #unsettled = new Set<LimitedCall>();
  /** Those of the unsettled calls that are not made yet. */
  #waiting = new Set<LimitedCall>();

  /** A call, with its wait, lasts at most `limitMs`. At most `limit` calls are in flight. */
  constructor(runtime: Runtime, limitMs: number, limit = Infinity) {
    this.#runtime = runtime;
    this.#limitMs = limitMs;
    this.#limit = limit;
  }

  /** Makes a call, at once if there is room. Rejects with {@linkcode TimeLimitError} at the limit of time. */
  run<T>(call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        cancelTimer();
        this.#unsettled.delete(limited);
        this.#waiting.delete(limited);
      };
      const limited: LimitedCall = {
        start: () => {
          const inFlight = this.#inFlight;
          inFlight.count++;
          const leave = () => {
            settle();
            inFlight.count--;
            this.#startWaiting();
          };
          call().then(resolve, reject).finally(leave);
        },
        fail: (error) => {
          settle();
          reject(error);
        },
      };
      const end = () => limited.fail(new TimeLimitError(this.#limitMs));
      const cancelTimer = this.#runtime.setTimer(this.#limitMs, end);
      this.#unsettled.add(limited);
      this.#waiting.add(limited);
      this.#startWaiting();
    });
  }

  /** Makes all further calls wait. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Makes calls again. The calls in flight no longer count, because they may hang forever. */
  resume(): void {
    this.#isPaused = false;
    this.#inFlight = { count: 0 };
    this.#startWaiting();
  }

  /** Rejects the calls that wait, which are never made. */
  rejectWaiting(error: Error): void {
    for (const { fail } of [...this.#waiting]) fail(error);
  }

  /** Rejects all calls that have not settled. */
  rejectAll(error: Error): void {
    for (const { fail } of [...this.#unsettled]) fail(error);
  }

  #startWaiting(): void {
    for (const limited of this.#waiting) {
      if (this.#isPaused || this.#inFlight.count >= this.#limit) return;
      this.#waiting.delete(limited);
      limited.start();
    }
  }
}

export class TimeLimitError extends Error {
  override name = "TimeLimitError";

  constructor(limitMs: number) {
    super(`No answer within ${limitMs} ms`);
  }
}
