import { HEAD_KEY } from "../keyspace.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { ServiceError } from "../service_error.ts";
import { Bulkhead } from "./bulkhead.ts";
import { CircuitBreaker, type CircuitState } from "./circuit_breaker.ts";
import { retry } from "./retry.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "./store.ts";
import { NotAttemptedError } from "./store_errors.ts";
import { TimeLimiter, TimeLimitError } from "./time_limiter.ts";

/** Time limit of one store call, including its wait and the retries of a read. */
export const STORE_CALL_LIMIT_MS = 2_000;

/** Maximum number of calls in flight. Further calls wait, within their {@linkcode STORE_CALL_LIMIT_MS}. */
export const OUTSTANDING_LIMIT = 64;

/** How many times a read is retried that failed over a network for an unknown reason. */
const NETWORK_RETRIES = 4;

/**
 * Makes the calls of a store with a time limit, a limit of calls in flight, retries of reads and a circuit
 * breaker, because a remote store may never answer. A failed call rejects with the code `store_unavailable`,
 * and with {@linkcode NotAttemptedError} if it had no effect.
 *
 * A hanging call cannot be cancelled, and a remote client repeats it while the store is away. So one call
 * that hangs trips the circuit breaker.
 */
export class ResilientStore implements Store {
  #store: Store;
  #runtime: Runtime;
  #circuitBreaker: CircuitBreaker;
  #timeLimiter: TimeLimiter;
  #bulkhead = new Bulkhead(OUTSTANDING_LIMIT);
  #isShutDown = false;

  constructor(store: Store, runtime: Runtime, report: Logger = () => {}) {
    this.#store = store;
    this.#runtime = runtime;
    this.#timeLimiter = new TimeLimiter(runtime, STORE_CALL_LIMIT_MS);
    this.#circuitBreaker = new CircuitBreaker({
      runtime,
      report,
      probe: (signal) => this.#probe(signal),
      onStateChange: (state) => this.#onCircuitChange(state),
    });
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return this.#call("read", () => this.#retryRead(() => this.#store.get(key)));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    return this.#call("read", () => this.#retryRead(() => this.#store.list(range, options)));
  }

  commit(commit: Commit): Promise<string | null> {
    // A commit is not retried here: only its caller can find out whether it landed.
    return this.#call("commit", () => this.#store.commit(commit));
  }

  close(): void {
    this.#isShutDown = true;
    this.#circuitBreaker.stop();
    this.#timeLimiter.rejectAll(shuttingDownError());
    this.#store.close();
  }

  async #call<T>(name: "read" | "commit", call: () => Promise<T>): Promise<T> {
    if (this.#isShutDown) throw shuttingDownError();
    if (this.#circuitBreaker.state === "open") throw circuitOpenError();
    let isMade = false;
    let isOver = false;
    const callOnce = async () => {
      // The caller already has its error.
      if (isOver) throw new Error("The call is over");
      isMade = true;
      return await call();
    };
    try {
      // While the circuit breaker is half-open, the bulkhead is paused.
      return await this.#timeLimiter.run(() => this.#bulkhead.run(callOnce));
    } catch (error) {
      isOver = true;
      const isLate = error instanceof TimeLimitError;
      const isRemote = this.#store.connection !== undefined;
      if (isMade && (isLate || isRemote)) this.#circuitBreaker.trip();
      if (error instanceof ServiceError) throw error;
      if (!isLate) {
        throw new ServiceError("store_unavailable", `The store failed to ${name}`, {
          cause: error,
        });
      }
      const message = `The store did not answer a ${name} within ${STORE_CALL_LIMIT_MS} ms`;
      throw isMade
        ? new ServiceError("store_unavailable", message)
        : new NotAttemptedError(message);
    }
  }

  /** Retries a read: until its time limit if the store is locked, a few times if the network failed. */
  #retryRead<T>(read: () => Promise<T>): Promise<T> {
    return retry(read, {
      runtime: this.#runtime,
      // This ends before the time limit of the call, so a lasting lock does not count as a hanging call.
      limitMs: STORE_CALL_LIMIT_MS,
      isRetryable: (error, attempt) =>
        error instanceof NotAttemptedError ||
        this.#store.connection !== undefined && attempt < NETWORK_RETRIES,
    });
  }

  async #probe(signal: AbortSignal): Promise<void> {
    await this.#store.connection?.reopen(signal);
    await this.#retryRead(() => this.#store.get(HEAD_KEY));
  }

  #onCircuitChange(state: CircuitState): void {
    switch (state) {
      case "half-open":
        return this.#bulkhead.pause();
      case "open":
        return this.#bulkhead.rejectWaiting(circuitOpenError());
      case "closed":
        return this.#bulkhead.resume();
    }
  }
}

function circuitOpenError(): ServiceError {
  return new NotAttemptedError("The store does not answer");
}

function shuttingDownError(): ServiceError {
  return new ServiceError("shutting_down", "The service is shutting down");
}
