import { type Logger, reasonOf } from "../../runtime/logger.ts";
import { backoffMs, type Runtime, sleep } from "../../runtime/runtime.ts";
import { StoreAwayError, StoreClosedError, UnclearOutcomeError } from "../store_errors.ts";

/** Time limit of one call, with its wait, and of one probe. */
export const CALL_LIMIT_MS = 2_000;

/** Maximum number of calls in flight. Further calls wait, in the order of their arrival. */
export const OUTSTANDING_LIMIT = 64;

/** How long calls wait for a probe before the circuit breaker opens. */
const HOLD_LIMIT_MS = 500;

/** A call was made, and did not settle within {@linkcode CALL_LIMIT_MS}. */
export class TimeLimitError extends UnclearOutcomeError {}

/** A call that has not settled. `start` makes it, once. */
interface Call {
  state: "waiting" | "made";
  start(): void;
  reject(error: Error): void;
}

/**
 * Limits the duration of calls to the store, and how many are in flight. A call that is late is rejected but not
 * cancelled. After {@linkcode trip}, probes the store until a probe succeeds. Meanwhile, calls wait for
 * {@linkcode HOLD_LIMIT_MS}, then fail at once. So a short outage fails no further call.
 */
export class CircuitBreaker {
  #runtime: Runtime;
  #report: Logger;
  #probe: (signal: AbortSignal) => Promise<unknown>;
  /** Why the last probe failed. */
  #probeFailure: unknown;
  #state: "closed" | "holding" | "open" | "stopped" = "closed";
  /** Replaced when the circuit breaker closes: the calls before may hang forever, so they no longer count. */
  #inFlight = { count: 0 };
  /** In the order of their arrival. Not a `Set`: V8 frees what was removed from a long-lived `Set` only late. */
  #calls: Call[] = [];

  /** `probe` shows whether the store answers. It may hang, or continue after the signal aborts. */
  constructor(runtime: Runtime, report: Logger, probe: (signal: AbortSignal) => Promise<unknown>) {
    this.#runtime = runtime;
    this.#report = report;
    this.#probe = probe;
  }

  /**
   * Makes a call, at once if there is room. Rejects with {@linkcode TimeLimitError} at the limit of time, which is at most
   * {@linkcode CALL_LIMIT_MS}, and with `StoreAwayError` if the call was not made by then, or the circuit breaker is open.
   */
  run<T>(name: string, call: () => Promise<T>, limitMs = CALL_LIMIT_MS): Promise<T> {
    if (this.#state === "open") return Promise.reject(openError(this.#probeFailure));
    if (this.#state === "stopped") return Promise.reject(new StoreClosedError());
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const start = () => {
      const inFlight = this.#inFlight;
      inFlight.count++;
      call().then(resolve, reject).finally(() => {
        inFlight.count--;
        this.#startWaiting();
      });
    };
    const waiting: Call = { state: "waiting", start, reject };
    const limited = this.#limit(name, promise, waiting, Math.min(limitMs, CALL_LIMIT_MS));
    this.#startWaiting();
    return limited;
  }

  /** Whether calls fail at once. */
  get isOpen(): boolean {
    return this.#state === "open";
  }

  /** Reports a failure that other calls are likely to share. */
  trip(): void {
    if (this.#state !== "closed") return;
    this.#state = "holding";
    const cancelTimer = this.#runtime.setTimer(HOLD_LIMIT_MS, () => {
      if (this.#state === "stopped") return;
      this.#state = "open";
      for (const { state, reject } of this.#calls) {
        if (state === "waiting") reject(openError(this.#probeFailure));
      }
    });
    this.#probeUntilAnswered().then(() => {
      cancelTimer();
      if (this.#state === "stopped") return;
      this.#state = "closed";
      this.#inFlight = { count: 0 };
      this.#startWaiting();
    });
  }

  /** Rejects all calls that have not settled, and ends the probes. */
  stop(): void {
    this.#state = "stopped";
    for (const { reject } of this.#calls) reject(new StoreClosedError());
  }

  #startWaiting(): void {
    while (this.#state === "closed" && this.#inFlight.count < OUTSTANDING_LIMIT) {
      const next = this.#calls.find(({ state }) => state === "waiting");
      if (next === undefined) return;
      next.state = "made";
      next.start();
    }
  }

  /** Resolves when a probe was answered, or after {@linkcode stop}. Never rejects. */
  async #probeUntilAnswered(): Promise<void> {
    const runtime = this.#runtime;
    const since = runtime.monotonicNow();
    for (let attempt = 0; this.#state !== "stopped"; attempt++) {
      try {
        await this.#probeOnce();
        const afterMs = Math.round(runtime.monotonicNow() - since);
        if (this.#state === "open") {
          this.#report("info", "store_back", { ends: "store_away", afterMs });
        }
        return;
      } catch (error) {
        this.#probeFailure = error;
        const forMs = Math.round(runtime.monotonicNow() - since);
        if (this.#state === "open") {
          this.#report("warn", "store_away", { reason: reasonOf(error), forMs });
        }
      }
      await sleep(runtime, backoffMs(runtime, attempt));
    }
  }

  #probeOnce(): Promise<unknown> {
    const controller = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    this.#probe(controller.signal).then(resolve, reject);
    promise.catch((error) => controller.abort(error));
    const made: Call = { state: "made", start() {}, reject };
    return this.#limit("probe", promise, made, CALL_LIMIT_MS);
  }

  #limit<T>(name: string, promise: Promise<T>, call: Call, limitMs: number): Promise<T> {
    const cancelTimer = this.#runtime.setTimer(limitMs, () => {
      const message = `The store did not answer a ${name} within ${Math.round(limitMs)} ms`;
      const isMade = call.state === "made";
      call.reject(isMade ? new TimeLimitError(message) : new StoreAwayError(message));
    });
    this.#calls.push(call);
    return promise.finally(() => {
      cancelTimer();
      this.#calls.splice(this.#calls.indexOf(call), 1);
    });
  }
}

const openError = (cause: unknown) => new StoreAwayError("The store does not answer", { cause });
