import type { RecordedEvent } from "../../events/event.ts";
import { ServiceError, serviceErrorCode } from "../service_error.ts";
import type { Command } from "./command.ts";

/** The commands of an instance. */
export class CommandQueue {
  /** Those that wait for a commit, in their order. */
  readonly waiting: QueuedCommand[] = [];
  /** All that have no outcome yet, in order of their deadlines. */
  #unsettled = new Set<QueuedCommand>();

  /** Adds a command that is rejected at a deadline. */
  add(command: Command, deadline: number, context: unknown): QueuedCommand {
    const queued = new QueuedCommand(command, deadline, context, this.#unsettled);
    this.waiting.push(queued);
    this.#unsettled.add(queued);
    return queued;
  }

  /**
   * Rejects every unsettled command whose deadline is at `now` or before. Commands with the `unclear` names may have
   * landed: what another command of its name stores is the outcome of a command, too.
   */
  rejectOverdue(now: number, limitMs: number, unclear: ReadonlySet<string | undefined>): void {
    for (const queued of this.waiting) {
      const { name } = queued.command;
      if (name !== undefined && unclear.has(name)) queued.mayHaveLanded = true;
    }
    for (const queued of this.#unsettled) {
      if (queued.deadline > now) break;
      queued.rejectOverdue(limitMs);
    }
  }
}

/** A command that waits for its outcome. Only the first outcome counts. */
export class QueuedCommand {
  readonly command: Command;
  /** Monotonic time in milliseconds at which the command is rejected. */
  readonly deadline: number;
  /** The context of the caller of append(); see `Instrumentation`. */
  readonly context: unknown;
  /** Whether it was repeated because it produced no events, or was refused, on a possibly stale head. */
  wasRepeated = false;
  /** Whether a batch with this command, or with another one of its name, may have landed. */
  mayHaveLanded = false;
  #unsettled: Set<QueuedCommand>;
  #settlers = Promise.withResolvers<readonly RecordedEvent[]>();
  /** Resolves to the events, as append() does. */
  readonly outcome = this.#settlers.promise;

  constructor(
    command: Command,
    deadline: number,
    context: unknown,
    unsettled: Set<QueuedCommand>,
  ) {
    this.command = command;
    this.deadline = deadline;
    this.context = context;
    this.#unsettled = unsettled;
  }

  get isSettled(): boolean {
    return !this.#unsettled.has(this);
  }

  resolve(events: readonly RecordedEvent[]): void {
    if (this.#unsettled.delete(this)) this.#settlers.resolve(events);
  }

  reject(reason: unknown): void {
    if (this.#unsettled.delete(this)) this.#settlers.reject(reason);
  }

  /** Rejects a command that could not be prepared, or is refused. */
  refuse(reason: unknown): void {
    const isUnknown = this.mayHaveLanded && serviceErrorCode(reason) === "store_unavailable";
    const message = "The store has not answered whether the request was stored before";
    this.reject(isUnknown ? new ServiceError("outcome_unknown", message) : reason);
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
