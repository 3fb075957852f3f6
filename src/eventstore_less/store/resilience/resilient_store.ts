import { type Instrumentation, NO_INSTRUMENTATION } from "../../runtime/instrumentation.ts";
import type { Logger } from "../../runtime/logger.ts";
import { retry } from "../../runtime/retry.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { words } from "../../words.ts";
import type { Key, Store } from "../store.ts";
import {
  isWriteFault,
  NotAppliedError,
  StoreAwayError,
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";
import { CALL_LIMIT_MS, CircuitBreaker, TimeLimitError } from "./circuit_breaker.ts";

/** How long a command that can wait repeats a call on a busy store. */
export const RETRY_LIMIT_MS = 60_000;

/** How long a remote store may apply no commit before one that is not applied trips the circuit breaker. */
const COMMIT_LAPSE_MS = 1_000;

type ReadName = "get" | "list" | "snapshot";

/** The surroundings of a {@linkcode ResilientStore}. */
export interface ResilientStoreOptions {
  /** Time and timers. */
  runtime: Runtime;
  /** The record that is read to find out whether the store answers. */
  probeKey: Key;
  /** Logs that the store is away, and that it is back. By default, nothing does. */
  report?: Logger;
  /** Measures the calls. By default, nothing does. */
  instrumentation?: Pick<Instrumentation, "onStoreCall">;
  /** How long failed reads are repeated, in milliseconds. By default, a read ends within {@linkcode CALL_LIMIT_MS}. */
  retryReadsMs?: number;
}

/**
 * Makes the calls of a store with a circuit breaker, because a remote store may never answer, and with retries of reads.
 * A commit is not retried: only its caller can find out whether it landed. One call that hangs trips the circuit
 * breaker, because the next ones would, too. So does a lock that lasts: on a replaced primary, a commit that waits for
 * its standby may hold it forever.
 */
export class ResilientStore implements Store {
  #store: Store;
  #options: Required<ResilientStoreOptions>;
  /** The first damage of the store's file that was found. It lasts until a restore. */
  damage: StoreDamagedError | undefined;
  /** Those of the store. */
  readonly limits: Store["limits"];
  #circuitBreaker: CircuitBreaker;
  /** Monotonic time in milliseconds at which a commit last landed, or the connection was last replaced. */
  #appliedAt = -Infinity;

  /** Makes no call before the first one of its caller. */
  constructor(store: Store, options: ResilientStoreOptions) {
    const defaults = { report() {}, instrumentation: NO_INSTRUMENTATION, retryReadsMs: 0 };
    this.#options = { ...defaults, ...options };
    const { runtime, report } = this.#options;
    this.#store = store;
    this.limits = store.limits;
    this.#circuitBreaker = new CircuitBreaker(runtime, report, (signal) => this.#probe(signal));
  }

  /** Reads an entry, again if the read fails, within the limit of time. */
  get: Store["get"] = (key) => this.#read("get", key, () => this.#store.get(key));

  /** Lists entries, as get() reads one. */
  list: Store["list"] = (range, options) =>
    this.#read("list", range.prefix ?? range.start, () => this.#store.list(range, options));

  /** Measured as a read of its last key or range, because the first key is that of the head. */
  snapshot: Store["snapshot"] = (keys, ranges, options) => {
    const lastRange = ranges.at(-1);
    const key = lastRange === undefined ? keys.at(-1) : lastRange.prefix ?? lastRange.start;
    return this.#read("snapshot", key, () => this.#store.snapshot(keys, ranges, options));
  };

  /** Commits once. */
  commit: Store["commit"] = (commit) =>
    this.#call("commit", undefined, async () => {
      // A damaged file may hide a record, so that a repeated request would write again.
      if (this.damage !== undefined) throw this.damage;
      const versionstamp = await this.#store.commit(commit);
      if (versionstamp !== null) this.#appliedAt = this.#options.runtime.monotonicNow();
      return versionstamp;
    });

  close(): void {
    this.#circuitBreaker.stop();
    this.#store.close();
  }

  #read<T>(name: ReadName, key: Key | undefined, read: () => Promise<T>): Promise<T> {
    const { runtime, retryReadsMs } = this.#options;
    const canWait = retryReadsMs > 0;
    const isRetryable = (error: unknown, attempt: number) => {
      if (error instanceof StoreRefusedError || error instanceof StoreClosedError) return false;
      if (canWait || error instanceof NotAppliedError) return true;
      // Once, on the connection that replaces the one of the first attempt.
      return this.#isRemote && attempt === 0 && !this.#circuitBreaker.isOpen;
    };
    const limitMs = canWait ? retryReadsMs : CALL_LIMIT_MS;
    return retry((leftMs) => this.#call(name, key, read, leftMs), runtime, limitMs, isRetryable);
  }

  get #isRemote(): boolean {
    return this.#store.reopen !== undefined;
  }

  async #call<T>(
    operation: ReadName | "commit",
    key: Key | undefined,
    call: () => Promise<T>,
    limitMs?: number,
  ): Promise<T> {
    const { instrumentation, runtime } = this.#options;
    const name = operation === "commit" ? "commit" : "read";
    const startedAt = runtime.monotonicNow();
    let isMade = false;
    try {
      const make = () => {
        isMade = true;
        return call();
      };
      return await this.#circuitBreaker.run(name, make, limitMs);
    } catch (error) {
      if (!isMade) throw error;
      if (error instanceof StoreDamagedError) this.noteDamage(error);
      if (this.#isShared(error)) this.#circuitBreaker.trip();
      throw errorForCaller(name, error);
    } finally {
      instrumentation.onStoreCall(operation, key, (runtime.monotonicNow() - startedAt) / 1_000);
    }
  }

  /** Reports the first damage. A check of the file may find it before a call does. */
  noteDamage(damage: StoreDamagedError): void {
    if (this.damage !== undefined) return;
    this.damage = damage;
    const remedy = `Stop the service, run ${words().audit}, and follow its advice`;
    this.#options.report("error", "store_damaged", { reason: damage.reason, remedy });
  }

  /** Whether other calls are likely to fail like this one. */
  #isShared(error: unknown): boolean {
    if (error instanceof TimeLimitError || error instanceof StoreAwayError) return true;
    if (!this.#isRemote) return false;
    if (error instanceof NotAppliedError) {
      return this.#options.runtime.monotonicNow() - this.#appliedAt >= COMMIT_LAPSE_MS;
    }
    return error instanceof UnclearOutcomeError || !(error instanceof StoreError);
  }

  async #probe(signal: AbortSignal): Promise<void> {
    await this.#store.reopen?.(signal);
    await this.#store.get(this.#options.probeKey);
    this.#appliedAt = this.#options.runtime.monotonicNow();
  }
}

/** Errors whose own message is for clients. */
const FOR_CLIENTS = [StoreDamagedError, StoreClosedError, TimeLimitError];

const MESSAGES = [
  [StoreRefusedError, (name: string) => `The store refused a ${name}`],
  [StoreAwayError, () => "The store cannot be reached"],
  [NotAppliedError, (name: string) => `The store cannot ${name} at the moment`],
] as const;

/** Keeps the class of an error, but moves the store's own message into the cause: clients see the message. */
function errorForCaller(name: "read" | "commit", cause: unknown): unknown {
  if (isWriteFault(cause) || FOR_CLIENTS.some((Type) => cause instanceof Type)) return cause;
  for (const [Type, message] of MESSAGES) {
    if (cause instanceof Type) return new Type(message(name), { cause });
  }
  return new UnclearOutcomeError(`The store failed to ${name}`, { cause });
}
