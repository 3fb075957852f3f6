import type { RecordedEvent } from "../../events/event.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import type { Command } from "./command.ts";

/** The commands of an instance. */
export class CommandQueue {
  /** Those that wait for a commit, in their order. */
  readonly waiting: QueuedCommand[] = [];
  /** Those of which a batch is planned or committed. Some of them may wait again. */
  #taken: readonly QueuedCommand[] = [];

  /** Adds a command that is rejected at a deadline. */
  add(command: Command, deadline: number): QueuedCommand {
    const queued = new QueuedCommand(command, deadline);
    this.waiting.push(queued);
    return queued;
  }

  /** Takes all waiting commands that have no outcome yet, until {@linkcode release}. */
  take(): readonly QueuedCommand[] {
    return this.#taken = this.waiting.splice(0).filter(({ isSettled }) => !isSettled);
  }

  /** Notes that each taken command has its outcome, or is about to get it, or waits again. */
  release(): void {
    this.#taken = [];
  }

  /** Rejects the taken commands because of a defect, which may have kept them from waiting again. */
  refuseTaken(reason: unknown): void {
    for (const queued of this.#taken) queued.refuse(reason);
  }

  /**
   * Rejects every command whose deadline is at `now` or before. Commands with the `unclear` Idempotency-Keys may have
   * landed: what another command with its key stores is the outcome of a command, too.
   */
  rejectOverdue(now: number, limitMs: number, unclear: ReadonlySet<string | undefined>): void {
    for (const queued of this.waiting) {
      const { idempotencyKey } = queued.command;
      if (idempotencyKey !== undefined && unclear.has(idempotencyKey)) queued.mayHaveLanded = true;
    }
    for (const commands of [this.#taken, this.waiting]) {
      for (const queued of commands) if (queued.deadline <= now) queued.rejectOverdue(limitMs);
    }
  }
}

/** A command that waits for its outcome. Only the first outcome counts. */
export class QueuedCommand {
  readonly command: Command;
  /** Monotonic time in milliseconds at which the command is rejected. */
  readonly deadline: number;
  /** Whether it was repeated because it produced no events, or was refused, on a possibly stale head. */
  wasRepeated = false;
  /** Whether a batch with this command, or with another one of its Idempotency-Key, may have landed. */
  mayHaveLanded = false;
  /** A flag and not a set of commands: dead entries of a long-lived set keep others alive (measured). */
  isSettled = false;
  #settlers = Promise.withResolvers<readonly RecordedEvent[]>();
  /** Resolves to the events, as append() does. */
  readonly outcome = this.#settlers.promise;

  constructor(command: Command, deadline: number) {
    this.command = command;
    this.deadline = deadline;
  }

  resolve(events: readonly RecordedEvent[]): void {
    this.isSettled = true;
    this.#settlers.resolve(events);
  }

  reject(reason: unknown): void {
    this.isSettled = true;
    this.#settlers.reject(reason);
  }

  /** Rejects a command that is refused, or failed. An unclear outcome stays unclear. */
  refuse(reason: unknown): void {
    const code = serviceErrorCode(reason);
    const isUnknown = this.mayHaveLanded && (code === undefined || code === "store_unavailable");
    const message = "The store has not answered whether the request was stored before";
    const unknown = () => new ServiceError("outcome_unknown", message, { cause: reason });
    this.reject(isUnknown ? unknown() : reason);
  }

  /** Rejects a command that has waited for `limitMs`. */
  rejectOverdue(limitMs: number): void {
    this.reject(
      this.mayHaveLanded
        ? new ServiceError(
          "outcome_unknown",
          `The store gave no clear answer within ${limitMs} ms, so it may or may not have been stored`,
        )
        : new ServiceError(
          "store_unavailable",
          `The store could not take it within ${limitMs} ms, so nothing was stored`,
        ),
    );
  }
}
