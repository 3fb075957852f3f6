import { type Logger, reasonOf } from "../../runtime/logger.ts";
import { backoffMs, type Runtime, sleep } from "../../runtime/runtime.ts";
import { StoreAwayError } from "../store_errors.ts";

/** Time limit of one call, with its wait, and of one probe. */
export const CALL_LIMIT_MS = 2_000;

/** Maximum number of calls in flight. Further calls wait, in the order of their arrival. */
export const OUTSTANDING_LIMIT = 64;

/** How long the circuit breaker stays half-open before it opens. */
const HALF_OPEN_LIMIT_MS = 500;

/** Interval of the warnings while the circuit breaker is open. */
const OPEN_REPORT_MS = 60_000;

export interface CircuitBreakerDeps {
  runtime: Runtime;
  report: Logger;
  /** Makes a call that shows whether the store answers. May hang, or continue after the signal aborts. */
  probe: (signal: AbortSignal) => Promise<unknown>;
  /** Called when a probe was answered. */
  onClosed: () => void;
}

/** A call did not settle within {@linkcode CALL_LIMIT_MS}. */
export class TimeLimitError extends Error {}

/**
 * Limits the duration of calls to the store, and how many are in flight. A call that is late is rejected but not
 * cancelled. After {@linkcode trip}, probes the store until a probe succeeds. Meanwhile, calls wait for
 * {@linkcode HALF_OPEN_LIMIT_MS}, then fail at once. So a short outage fails no further call.
 */
export class CircuitBreaker {
  #deps: CircuitBreakerDeps;
  /** Unlike in the usual pattern, half-open precedes open, and a probe that succeeds closes an open one. */
  #state: "closed" | "half-open" | "open" | "stopped" = "closed";
  /** Replaced when the circuit breaker closes: the calls before may hang forever, so they no longer count. */
  #inFlight = { count: 0 };
  /** Rejects a call that has not settled. */
  #unsettled = new Set<(error: Error) => void>();
  /** Those of the unsettled calls that are not made yet, and how to make them. */
  #waiting = new Map<(error: Error) => void, () => void>();

  constructor(deps: CircuitBreakerDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a call, at once if there is room. Rejects with {@linkcode TimeLimitError} at the limit of time, and with
   * `StoreAwayError` while the circuit breaker is open.
   */
  run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#state === "open") return Promise.reject(openError());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#waiting.set(reject, () => {
      const inFlight = this.#inFlight;
      inFlight.count++;
      call().then(resolve, reject).finally(() => {
        inFlight.count--;
        this.#startWaiting();
      });
    });
    this.#startWaiting();
    return this.#limit(promise, reject);
  }

  /** Reports a failure that other calls are likely to share. */
  trip(): void {
    if (this.#state !== "closed") return;
    this.#state = "half-open";
    const cancelTimer = this.#deps.runtime.setTimer(HALF_OPEN_LIMIT_MS, () => {
      if (this.#state === "stopped") return;
      this.#state = "open";
      for (const reject of this.#waiting.keys()) reject(openError());
    });
    this.#probeUntilAnswered().then(() => {
      cancelTimer();
      if (this.#state === "stopped") return;
      this.#state = "closed";
      this.#inFlight = { count: 0 };
      this.#deps.onClosed();
      this.#startWaiting();
    });
  }

  /** Rejects all calls that have not settled, and ends the probes. */
  stop(error: Error): void {
    this.#state = "stopped";
    for (const reject of this.#unsettled) reject(error);
  }

  #startWaiting(): void {
    for (const [reject, start] of this.#waiting) {
      if (this.#state !== "closed" || this.#inFlight.count >= OUTSTANDING_LIMIT) return;
      this.#waiting.delete(reject);
      start();
    }
  }

  /** Resolves when a probe was answered, or after {@linkcode stop}. Never rejects. */
  async #probeUntilAnswered(): Promise<void> {
    const { runtime, report } = this.#deps;
    const since = runtime.monotonicNow();
    let reportAt: number | undefined;
    for (let attempt = 0; this.#state !== "stopped"; attempt++) {
      try {
        await this.#probe();
        if (reportAt !== undefined) {
          report("info", "store_back", { afterMs: Math.round(runtime.monotonicNow() - since) });
        }
        return;
      } catch (error) {
        const now = runtime.monotonicNow();
        if (this.#state === "open" && (reportAt === undefined || now >= reportAt)) {
          report("warn", "store_away", { reason: reasonOf(error), forMs: Math.round(now - since) });
          reportAt = now + OPEN_REPORT_MS;
        }
      }
      await sleep(runtime, backoffMs(runtime, attempt));
    }
  }

  async #probe(): Promise<void> {
    const controller = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#deps.probe(controller.signal).then(resolve, reject);
    try {
      await this.#limit(promise, reject);
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  }

  #limit<T>(promise: Promise<T>, reject: (error: Error) => void): Promise<T> {
    const cancelTimer = this.#deps.runtime.setTimer(
      CALL_LIMIT_MS,
      () => reject(new TimeLimitError(`No answer within ${CALL_LIMIT_MS} ms`)),
    );
    this.#unsettled.add(reject);
    return promise.finally(() => {
      cancelTimer();
      this.#unsettled.delete(reject);
      this.#waiting.delete(reject);
    });
  }
}

function openError(): StoreAwayError {
  return new StoreAwayError("The store does not answer");
}
