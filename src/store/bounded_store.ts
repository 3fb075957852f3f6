import { ServiceError } from "../service_error.ts";
import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import { HEAD_KEY } from "../keyspace.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "./store.ts";

/** Time limit of one store call, including the retries of a read. */
export const STORE_CALL_LIMIT_MS = 2_000;

/** Maximum number of calls in flight. Further calls wait, within their {@linkcode STORE_CALL_LIMIT_MS}. */
export const OUTSTANDING_LIMIT = 64;

/**
 * Number of hanging probes after which the pauses between probes grow. The first pause is
 * {@linkcode PROBE_PAUSE_MS}, and each one doubles. Probes continue because the store may be back while
 * the hanging ones never get an answer.
 */
const HANGING_PROBES_LIMIT = 16;

const PROBE_PAUSE_MS = 10_000;

/** The call was not made, or met a lock. It had no effect. */
export class NotAttemptedError extends ServiceError {
  constructor(message: string) {
    super("store_unavailable", message);
  }
}

/** How many times a failed read over the network is repeated. */
const READ_REPETITIONS = 4;

/** How long calls wait for a probe's answer before the store counts as away. */
const SUSPECT_LIMIT_MS = 500;

/** Interval of the warnings while the store is away. */
const AWAY_REPORT_MS = 60_000;

interface Waiting {
  start: () => void;
  giveUp: (failure: ServiceError) => void;
}

/**
 * Limits the duration and the number of the calls of a store, because a remote store may never answer.
 * It repeats reads that met a lock of the SQLite file or failed on the network. A failed call rejects
 * with the code `store_unavailable`. The error is a {@linkcode NotAttemptedError} if the store was
 * not called, or was locked.
 *
 * A hanging call cannot be cancelled, and a remote client repeats it while the store is away. So after
 * one call hangs, no other is made until the store has answered a probe. Calls wait for that up to
 * {@linkcode SUSPECT_LIMIT_MS}. After that, they fail at once.
 */
export class BoundedStore implements Store {
  #store: Store;
  #runtime: Runtime;
  #report: Logger;
  #waiting: Waiting[] = [];
  /** The functions that reject the unanswered calls. */
  #unanswered = new Set<(failure: ServiceError) => void>();
  /** Number of calls in flight. Replaced when the store is back, because old calls may hang forever. */
  #slots = { taken: 0 };
  /** The hanging probes. Replaced with `#slots`, for the same reason. */
  #probes = { hanging: 0, lastAt: -Infinity };
  #state: "answering" | "suspect" | "away" | "closed" = "answering";

  constructor(store: Store, runtime: Runtime, report: Logger = () => {}) {
    this.#store = store;
    this.#runtime = runtime;
    this.#report = report;
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return this.#within("read", () => this.#read(() => this.#store.get(key)));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    return this.#within("read", () => this.#read(() => this.#store.list(range, options)));
  }

  commit(commit: Commit): Promise<string | null> {
    // A commit is not repeated here: only its caller can find out whether it landed.
    return this.#within("commit", () => this.#store.commit(commit));
  }

  close(): void {
    this.#state = "closed";
    this.#giveUpWaiting(closedFailure());
    for (const giveUp of [...this.#unanswered]) giveUp(closedFailure());
    this.#store.close();
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    const deadline = this.#runtime.monotonicNow() + STORE_CALL_LIMIT_MS;
    for (let attempt = 0;; attempt++) {
      try {
        return await read();
      } catch (error) {
        const pauseMs = backoffMs(this.#runtime, attempt);
        // A network may lose an answer. An error that persists after some attempts has another cause.
        const isAccident = this.#store.reconnect !== undefined && attempt < READ_REPETITIONS;
        // Reject before the time limit, because a lasting lock must not count as a hanging call.
        const isLate = this.#runtime.monotonicNow() + pauseMs >= deadline;
        if (isLate || !isAccident && !isLocked(error)) throw error;
        await sleep(this.#runtime, pauseMs);
      }
    }
  }

  #within<T>(what: string, call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let isMade = false;
      let isOver = false;
      const end = () => {
        isOver = true;
        cancel();
        this.#unanswered.delete(giveUp);
      };
      const giveUp = (failure: ServiceError) => {
        end();
        reject(failure);
      };
      const cancel = this.#runtime.setTimer(STORE_CALL_LIMIT_MS, () => {
        const message = `The store did not answer a ${what} within ${STORE_CALL_LIMIT_MS} ms`;
        giveUp(
          isMade ? new ServiceError("store_unavailable", message) : new NotAttemptedError(message),
        );
        if (isMade) this.#suspect();
      });
      this.#unanswered.add(giveUp);
      const start = () => {
        // The caller already has its error.
        if (isOver) return;
        isMade = true;
        const slots = this.#slots;
        slots.taken++;
        const free = () => {
          slots.taken--;
          if (this.#waiting.length > 0) this.#startWaiting();
        };
        call().then((value) => {
          free();
          if (isOver) return;
          end();
          resolve(value);
        }, (cause) => {
          free();
          if (isOver) return;
          giveUp(
            isLocked(cause)
              ? new NotAttemptedError("Another process keeps the store's file locked")
              : new ServiceError("store_unavailable", `The store failed to ${what}`, { cause }),
          );
          if (this.#store.reconnect !== undefined) this.#suspect();
        });
      };
      this.#admit({ start, giveUp });
    });
  }

  #admit(call: Waiting): void {
    switch (this.#state) {
      case "answering":
        if (this.#slots.taken < OUTSTANDING_LIMIT) call.start();
        else this.#waiting.push(call);
        break;
      case "suspect":
        this.#waiting.push(call);
        break;
      case "away":
        call.giveUp(awayFailure());
        break;
      case "closed":
        call.giveUp(closedFailure());
    }
  }

  #startWaiting(): void {
    while (this.#state === "answering" && this.#slots.taken < OUTSTANDING_LIMIT) {
      const next = this.#waiting.shift();
      if (next === undefined) break;
      next.start();
    }
  }

  #giveUpWaiting(failure: ServiceError): void {
    for (const { giveUp } of this.#waiting.splice(0)) giveUp(failure);
  }

  #suspect(): void {
    if (this.#state !== "answering") return;
    this.#state = "suspect";
    const cancel = this.#runtime.setTimer(SUSPECT_LIMIT_MS, () => this.#giveUpHope());
    this.#recover().finally(cancel);
  }

  #giveUpHope(): void {
    if (this.#state !== "suspect") return;
    this.#state = "away";
    this.#giveUpWaiting(awayFailure());
  }

  /** Probes the store until it answers. Never rejects. */
  async #recover(): Promise<void> {
    const since = this.#runtime.monotonicNow();
    let reportAt: number | undefined;
    for (let attempt = 0;; attempt++) {
      try {
        await this.#probe();
        break;
      } catch (error) {
        if (this.#isClosed()) return;
        const now = this.#runtime.monotonicNow();
        if (this.#state === "away" && (reportAt === undefined || now >= reportAt)) {
          this.#report("warn", "store_away", { reason: reasonOf(error), forMs: now - since });
          reportAt = now + AWAY_REPORT_MS;
        }
      }
      await sleep(this.#runtime, backoffMs(this.#runtime, attempt));
    }
    if (this.#isClosed()) return;
    if (reportAt !== undefined) {
      this.#report("info", "store_back", { afterMs: this.#runtime.monotonicNow() - since });
    }
    this.#state = "answering";
    this.#slots = { taken: 0 };
    this.#probes = { hanging: 0, lastAt: -Infinity };
    this.#startWaiting();
  }

  /** Resolves when the store has answered a read. */
  #probe(): Promise<void> {
    return new Promise((resolve, reject) => {
      const controller = new AbortController();
      const cancel = this.#runtime.setTimer(STORE_CALL_LIMIT_MS, () => {
        const error = new Error(`It does not answer within ${STORE_CALL_LIMIT_MS} ms`);
        controller.abort(error);
        reject(error);
      });
      this.#askStore(controller.signal).then(resolve, reject).finally(cancel);
    });
  }

  async #askStore(signal: AbortSignal): Promise<void> {
    const probes = this.#probes;
    const now = this.#runtime.monotonicNow();
    const beyond = probes.hanging - HANGING_PROBES_LIMIT;
    if (beyond >= 0 && now < probes.lastAt + PROBE_PAUSE_MS * 2 ** beyond) {
      throw new Error("Too many reads hang");
    }
    probes.lastAt = now;
    probes.hanging++;
    try {
      await this.#store.reconnect?.(signal);
      await this.#read(() => this.#store.get(HEAD_KEY));
    } finally {
      probes.hanging--;
    }
  }

  #isClosed(): boolean {
    return this.#state === "closed";
  }
}

function awayFailure(): ServiceError {
  return new NotAttemptedError("The store does not answer");
}

function closedFailure(): ServiceError {
  return new ServiceError("shutting_down", "The service is shutting down");
}

/** SQLite's error if another process has locked the file. The call had no effect. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}
