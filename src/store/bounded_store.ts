import { ServiceError } from "../service_error.ts";
import { backoffMs, type Runtime, sleep } from "../runtime.ts";
import { type Logger, reasonOf } from "../logger.ts";
import { HEAD_KEY } from "./keyspace.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "./store.ts";

/** Longest time that one call of the store may take, retries of a read included. */
export const STORE_CALL_LIMIT_MS = 2_000;

/** How many calls may be under way. The next ones wait, for as long as a call may take. */
export const OUTSTANDING_LIMIT = 64;

/**
 * So many reads that ask whether the store is back may hang. Further ones are made at intervals that
 * double, the first after {@linkcode PROBE_PAUSE_MS}: the store may be back and those lost for good.
 */
const HANGING_PROBES_LIMIT = 16;

const PROBE_PAUSE_MS = 10_000;

/** The call was not made, or met a lock: it cannot have done anything. */
export class NotAttemptedError extends ServiceError {
  constructor(message: string) {
    super("store_unavailable", message);
  }
}

/** How often a read over the network is repeated that failed. */
const READ_REPETITIONS = 4;

/** How long calls wait for a probe to be answered, before the store counts as away. */
const SUSPECT_LIMIT_MS = 500;

/** How often it is reported that the store is still away. */
const AWAY_REPORT_MS = 60_000;

interface Waiting {
  start: () => void;
  giveUp: (failure: ServiceError) => void;
}

/**
 * Puts limits of time and of number on the calls of a store, since a remote one may never answer, and
 * repeats reads that met a lock of the SQLite file or were lost on the network. What fails, fails with the code `store_unavailable`,
 * and as a {@linkcode NotAttemptedError} where the store was not even asked, or locked.
 *
 * Nobody can take back a call that hangs, and a remote client repeats it for as long as the store is
 * away. So where one hangs, no other is made before a probe has been answered: calls wait for that for
 * a moment, and from then on fail at once.
 */
export class BoundedStore implements Store {
  #store: Store;
  #runtime: Runtime;
  #report: Logger;
  #waiting: Waiting[] = [];
  /** Of the calls that are not answered, what gives up waiting for each. */
  #unanswered = new Set<(failure: ServiceError) => void>();
  /** Counts the calls under way; a new count begins when the store is back, as some may hang for good. */
  #slots = { taken: 0 };
  /** Counted anew like the calls, and for the same reason. */
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
    // A commit is not repeated here: only who made it can tell whether it landed.
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
        // A network may lose an answer; what is still wrong after some tries is no such accident.
        const isAccident = this.#store.reconnect !== undefined && attempt < READ_REPETITIONS;
        // In time to say so itself: a lock that stays is no call that hangs.
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
        // Nobody would hear of the outcome any more.
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

/** SQLite's answer where another process holds the file: nothing was done. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}
