import type { HeadEntry } from "../log/head.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import type { Appended, Command } from "./command.ts";
import { Preparation } from "./preparation.ts";

/** A command that waits for its outcome. Only the first outcome counts. */
export class QueuedCommand {
  readonly command: Command;
  /** Monotonic time in milliseconds at which the command is rejected. */
  readonly deadline: number;
  /** Whether it has its outcome. A set of settled commands instead would keep them in memory for long (measured). */
  isSettled = false;
  /** The last one that it was given. */
  preparation: Preparation | undefined;
  /** Whether its plan waits until it is prepared, however long that takes. */
  isAwaited = false;
  #settlers = Promise.withResolvers<Appended>();
  readonly outcome: Promise<Appended> = this.#settlers.promise;

  constructor(command: Command, deadline: number) {
    this.command = command;
    this.deadline = deadline;
  }

  /** At most one of the commands with the same identity is stored. */
  get identity(): unknown {
    return this.command.idempotencyKey ?? this;
  }

  get isPreparing(): boolean {
    return this.preparation !== undefined && this.preparation.result === undefined;
  }

  /** Prepares it, unless it has a preparation as of the base. */
  prepareOn(base: HeadEntry): void {
    if (this.preparation?.isAsOf(base)) return;
    // Otherwise, commits that come faster than it is prepared would make it wait for ever.
    this.isAwaited = this.preparation !== undefined;
    this.preparation = new Preparation(this.command, base);
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
