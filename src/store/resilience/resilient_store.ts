import { HEAD_KEY } from "../../keyspace.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { ServiceError } from "../../service_error.ts";
import { Bulkhead } from "./bulkhead.ts";
import { CircuitBreaker, type CircuitState } from "./circuit_breaker.ts";
import { retry } from "./retry.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
  StoreEntry,
  StoreLimits,
} from "../store.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreDamagedError,
  StoreError,
  StoreFullError,
  StoreNotReachedError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";
import { TimeLimiter, TimeLimitError } from "./time_limiter.ts";

/** Time limit of one store call, including its wait and the retries of a read. */
export const STORE_CALL_LIMIT_MS = 2_000;

/** Maximum number of calls in flight. Further calls wait, within their {@linkcode STORE_CALL_LIMIT_MS}. */
export const OUTSTANDING_LIMIT = 64;

/** How long a remote store may apply no commit before one that is not applied trips the circuit breaker. */
const COMMIT_LAPSE_MS = 1_000;

/** How many times a read is retried that failed over a network for an unknown reason. */
const NETWORK_RETRIES = 4;

/**
 * Makes the calls of a store with a time limit, a limit of calls in flight, retries of reads and a circuit
 * breaker, because a remote store may never answer.
 *
 * One call that hangs trips the circuit breaker, because the next ones would hang, too. So does a lock that lasts: on a
 * replaced primary, a commit that waits for its standby may hold it forever.
 */
export class ResilientStore implements Store {
  #store: Store;
  #runtime: Runtime;
  #report: Logger;
  #damage: StoreDamagedError | undefined;
  #circuitBreaker: CircuitBreaker;
  #timeLimiter: TimeLimiter;
  #bulkhead = new Bulkhead(OUTSTANDING_LIMIT);
  #isShutDown = false;
  /** Monotonic time in milliseconds at which a commit last landed, or the connection was last replaced. */
  #appliedAt = -Infinity;

  constructor(store: Store, runtime: Runtime, report: Logger = () => {}) {
    this.#store = store;
    this.#runtime = runtime;
    this.#report = report;
    this.#timeLimiter = new TimeLimiter(runtime, STORE_CALL_LIMIT_MS);
    this.#circuitBreaker = new CircuitBreaker({
      runtime,
      report,
      probe: (signal) => this.#probe(signal),
      onStateChange: (state) => this.#onCircuitChange(state),
    });
  }

  get limits(): StoreLimits {
    return this.#store.limits;
  }

  /** The first error that showed that the store's file is damaged. The damage lasts until a restore. */
  get damage(): StoreDamagedError | undefined {
    return this.#damage;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#call("read", () => this.#retryRead(() => this.#store.get(key)));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return this.#call("read", () => this.#retryRead(() => this.#store.list(range, options)));
  }

  commit(commit: Commit): Promise<string | null> {
    // A commit is not retried here: only its caller can find out whether it landed.
    return this.#call("commit", async () => {
      const versionstamp = await this.#store.commit(commit);
      if (versionstamp !== null) this.#appliedAt = this.#runtime.monotonicNow();
      return versionstamp;
    });
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
      if (error instanceof StoreDamagedError) this.#noteDamage(error);
      if (isMade && this.#isShared(error)) this.#circuitBreaker.trip();
      if (error instanceof TimeLimitError) {
        const message = `The store did not answer a ${name} within ${STORE_CALL_LIMIT_MS} ms`;
        throw isMade ? new UnclearOutcomeError(message) : new StoreAwayError(message);
      }
      throw isMade ? errorForCaller(name, error) : error;
    }
  }

  #noteDamage(error: StoreDamagedError): void {
    if (this.#damage !== undefined) return;
    this.#damage = error;
    this.#report("error", "store_damaged", {
      reason: error.reason,
      remedy: "Stop the service, run deno task audit, and follow its advice",
    });
  }

  /** Whether other calls are likely to fail like this one. */
  #isShared(error: unknown): boolean {
    if (error instanceof TimeLimitError || error instanceof StoreAwayError) return true;
    if (this.#store.connection === undefined) return false;
    if (error instanceof NotAppliedError) {
      return this.#runtime.monotonicNow() - this.#appliedAt >= COMMIT_LAPSE_MS;
    }
    return error instanceof UnclearOutcomeError || !(error instanceof StoreError);
  }

  /** Retries a read: until its time limit if the store is locked, a few times if the network failed. */
  #retryRead<T>(read: () => Promise<T>): Promise<T> {
    return retry(read, {
      runtime: this.#runtime,
      // This ends before the time limit of the call, so a lasting lock does not count as a hanging call.
      limitMs: STORE_CALL_LIMIT_MS,
      isRetryable: (error, attempt) =>
        error instanceof NotAppliedError ||
        !(error instanceof StoreRefusedError) && this.#store.connection !== undefined &&
          attempt < NETWORK_RETRIES,
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
        this.#appliedAt = this.#runtime.monotonicNow();
        return this.#bulkhead.resume();
    }
  }
}

/** Keeps the class of an error, but moves the store's own message into the cause: clients see the message. */
function errorForCaller(name: "read" | "commit", cause: unknown): unknown {
  if (cause instanceof StoreFullError && name === "commit") return cause;
  if (cause instanceof StoreDamagedError) return cause;
  if (cause instanceof StoreRefusedError) {
    return new StoreRefusedError(`The store refused a ${name}`, { cause });
  }
  if (cause instanceof StoreNotReachedError) return cause;
  if (cause instanceof StoreAwayError) {
    return new StoreAwayError("The store cannot be reached", { cause });
  }
  if (cause instanceof NotAppliedError) {
    return new NotAppliedError(`The store cannot ${name} at the moment`, { cause });
  }
  // At shutdown, the time limiter rejects calls with an error of its own.
  if (cause instanceof ServiceError && !(cause instanceof StoreError)) return cause;
  return new UnclearOutcomeError(`The store failed to ${name}`, { cause });
}

function circuitOpenError(): StoreAwayError {
  return new StoreAwayError("The store does not answer");
}

function shuttingDownError(): ServiceError {
  return new ServiceError("shutting_down", "The service is shutting down");
}
