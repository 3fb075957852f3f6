import type { RecordedEvent } from "../../events/event.ts";
import { ServiceError } from "../service_error.ts";
import type { Command } from "./command.ts";

/** The commands of an instance: those that wait for a commit, and all that have no outcome yet. */
export class CommandQueue {
  #waiting: QueuedCommand[] = [];
  /** All unsettled commands and some settled ones, in order of their deadlines. */
  #arrivals: QueuedCommand[] = [];

  /** Number of commands that wait for a commit. */
  get length(): number {
    return this.#waiting.length;
  }

  add(queued: QueuedCommand): void {
    this.#waiting.push(queued);
    this.#arrivals.push(queued);
  }

  /** Removes all waiting commands, the oldest first. Settled ones are dropped. */
  takeAll(): QueuedCommand[] {
    return this.#waiting.splice(0).filter(({ isSettled }) => !isSettled);
  }

  /** Returns commands to the front of the queue. */
  putFirst(commands: readonly QueuedCommand[]): void {
    this.#waiting.unshift(...commands);
  }

  /** Returns a command to the end of the queue. */
  putLast(queued: QueuedCommand): void {
    this.#waiting.push(queued);
  }

  /** Rejects every unsettled command whose deadline is at `now` or before. */
  rejectOverdue(now: number, limitMs: number): void {
    for (const queued of this.#arrivals) {
      if (queued.deadline > now) break;
      queued.rejectOverdue(limitMs);
    }
    this.dropSettled();
  }

  /** Drops settled commands at the front, before the garbage collector moves them to its old generation. */
  dropSettled(): void {
    const unsettled = this.#arrivals.findIndex(({ isSettled }) => !isSettled);
    this.#arrivals.splice(0, unsettled === -1 ? this.#arrivals.length : unsettled);
  }
}

/** A command that waits for its outcome. Only the first outcome counts. */
export class QueuedCommand {
  readonly command: Command;
  /** Monotonic time in milliseconds at which the command is rejected. */
  readonly deadline: number;
  /** The context of the caller of append(); see `Instrumentation`. */
  readonly context: unknown;
  /** Resolves to the events, as append() does. */
  readonly outcome: Promise<readonly RecordedEvent[]>;
  /** Whether it was repeated because it produced no events, or was refused, on a possibly stale head. */
  wasRepeated = false;
  /** Whether a batch with this command may have landed. */
  mayHaveLanded = false;
  isSettled = false;
  #resolve!: (events: readonly RecordedEvent[]) => void;
  #reject!: (reason: unknown) => void;

  constructor(command: Command, deadline: number, context: unknown) {
    this.command = command;
    this.deadline = deadline;
    this.context = context;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  resolve(events: readonly RecordedEvent[]): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#resolve(events);
  }

  reject(reason: unknown): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#reject(reason);
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
