import type { Body, DecidedEvent, Head, RecordedEvent } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";

/** A request to append events. `Prepared` is what it reads before it decides. */
export interface Command<Prepared = unknown, EventBody extends Body = Body> {
  /** The subject of the event that the command may decide, unless it is a new one. */
  readonly subject?: string;
  /** The HMAC of the Idempotency-Key. A commit holds one command with it; the others are prepared again after it. */
  readonly idempotencyKey?: string;
  /**
   * A commit has at most one command of a group, the first. The next one must read what its events have changed, for
   * example the names of all categories, so it waits for the next commit.
   */
  readonly group?: string;
  /** Nothing follows its events in the same commit: they change an API key, which later commands must read. */
  readonly endsCommit?: true;
  /**
   * Reads what decide() needs besides the head, for each head that is tried. Rejects if the command is refused. If a call
   * of the store fails without a `StoreRefusedError`, the command waits and is prepared again.
   */
  prepare(base: HeadEntry): Promise<Prepared> | Prepared;
  /**
   * May run again, so ids and times must be fixed. `last` is the event of the subject that the commit already has. If
   * the command then adds nothing, it is prepared again after that commit.
   */
  decide(
    head: Head,
    prepared: Prepared,
    last?: RecordedEvent<EventBody>,
  ): readonly DecidedEvent<EventBody>[];
}

/** The outcome of a command: its events, and what it read before it decided them. */
export interface Appended<Prepared = unknown, EventBody extends Body = Body> {
  events: readonly RecordedEvent<EventBody>[];
  prepared: Prepared;
}

/** A command that waits for its outcome. Only the first outcome counts. */
export class QueuedCommand {
  readonly command: Command;
  /** Monotonic time in milliseconds at which the command is rejected. */
  readonly deadline: number;
  /** Whether it has its outcome. A set of settled commands instead would keep them in memory for long (measured). */
  isSettled = false;
  #settlers = Promise.withResolvers<Appended>();
  readonly outcome = this.#settlers.promise;

  constructor(command: Command, deadline: number) {
    this.command = command;
    this.deadline = deadline;
  }

  /** At most one of the commands with the same identity is stored. */
  get identity(): unknown {
    return this.command.idempotencyKey ?? this;
  }

  resolve(appended: Appended): void {
    this.isSettled = true;
    this.#settlers.resolve(appended);
  }

  /**
   * Rejects a command that is refused, or failed. If a commit with it may be stored, the error never says that nothing
   * was stored.
   */
  refuse(reason: unknown, mayBeStored: boolean): void {
    const code = serviceErrorCode(reason) ?? "store_unavailable";
    const saysNothingStored = code === "store_unavailable" || code === "storage_full";
    if (!mayBeStored || !saysNothingStored) return this.#reject(reason);
    const message = "The store has not answered whether the request was stored before";
    this.#reject(new ServiceError("outcome_unknown", message, { cause: reason }));
  }

  /** Rejects a command that has waited for `limitMs`. */
  rejectOverdue(limitMs: number, mayBeStored: boolean): void {
    const unclear =
      `The store gave no clear answer within ${limitMs} ms, so it may or may not have been stored`;
    const nothing = `The store could not take it within ${limitMs} ms, so nothing was stored`;
    if (mayBeStored) this.#reject(new ServiceError("outcome_unknown", unclear));
    else this.#reject(new ServiceError("store_unavailable", nothing));
  }

  #reject(reason: unknown): void {
    this.isSettled = true;
    this.#settlers.reject(reason);
  }
}
