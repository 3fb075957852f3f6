import { type Logger, reasonOf } from "../../runtime/logger.ts";
import { backoffMs, type Runtime, sleep } from "../../runtime/runtime.ts";
import { CallLimiter } from "./call_limiter.ts";

/** How long the circuit breaker stays half-open before it opens. */
const HALF_OPEN_LIMIT_MS = 500;

/** Time limit of one probe. */
const PROBE_LIMIT_MS = 2_000;

/** Interval of the warnings while the circuit breaker is open. */
const OPEN_REPORT_MS = 60_000;

/**
 * Closed: calls are made. Half-open: calls wait for the answer to a probe. Open: calls fail at once. Unlike in
 * the usual pattern, half-open precedes open, and a probe that succeeds closes an open circuit breaker.
 */
export type CircuitState = "closed" | "half-open" | "open";

export interface CircuitBreakerDeps {
  runtime: Runtime;
  report: Logger;
  /** Makes a call that shows whether the store answers. May hang, or continue after the signal aborts. */
  probe: (signal: AbortSignal) => Promise<unknown>;
  onStateChange: (state: CircuitState) => void;
}

/**
 * Decides whether calls to the store are made. After a failed call, probes the store until a probe succeeds.
 * Meanwhile, calls wait for {@linkcode HALF_OPEN_LIMIT_MS}, then fail at once. So a short outage fails no
 * further call.
 */
export class CircuitBreaker {
  #deps: CircuitBreakerDeps;
  #limiter: CallLimiter;
  #state: CircuitState = "closed";
  #isStopped = false;

  constructor(deps: CircuitBreakerDeps) {
    this.#deps = deps;
    this.#limiter = new CallLimiter(deps.runtime, PROBE_LIMIT_MS);
  }

  get state(): CircuitState {
    return this.#state;
  }

  /** Reports a failure that other calls are likely to share. */
  trip(): void {
    if (this.#state !== "closed" || this.#isStopped) return;
    this.#enter("half-open");
    const cancelTimer = this.#deps.runtime.setTimer(HALF_OPEN_LIMIT_MS, () => this.#enter("open"));
    this.#probeUntilAnswered().then(() => {
      cancelTimer();
      this.#enter("closed");
    });
  }

  /** Ends the probes. The state does not change any more. */
  stop(): void {
    this.#isStopped = true;
    this.#limiter.rejectAll(new Error("The probes have ended"));
  }

  #enter(state: CircuitState): void {
    if (this.#isStopped) return;
    this.#state = state;
    this.#deps.onStateChange(state);
  }

  /** Resolves when a probe was answered, or after {@linkcode stop}. Never rejects. */
  async #probeUntilAnswered(): Promise<void> {
    const { runtime, report } = this.#deps;
    const since = runtime.monotonicNow();
    let reportAt: number | undefined;
    for (let attempt = 0; !this.#isStopped; attempt++) {
      try {
        await this.#probe();
        if (reportAt !== undefined) {
          report("info", "store_back", { afterMs: Math.round(runtime.monotonicNow() - since) });
        }
        return;
      } catch (error) {
        const now = runtime.monotonicNow();
        const isDue = reportAt === undefined || now >= reportAt;
        if (this.#state === "open" && !this.#isStopped && isDue) {
          report("warn", "store_away", { reason: reasonOf(error), forMs: Math.round(now - since) });
          reportAt = now + OPEN_REPORT_MS;
        }
      }
      await sleep(runtime, backoffMs(runtime, attempt));
    }
  }

  async #probe(): Promise<void> {
    const controller = new AbortController();
    try {
      await this.#limiter.run(() => this.#deps.probe(controller.signal));
    } catch (error) {
      controller.abort(error);
      throw error;
    }
  }
}
