import type { RecordedEvent } from "../../events/event.ts";
import { ServiceError } from "../service_error.ts";
import type { Command } from "./command.ts";
import type { PlannedAppend } from "./planned_append.ts";

/** A command that waits for its outcome. Only the first outcome counts. */
export class QueuedCommand {
  readonly command: Command;
  /** Monotonic time in milliseconds at which the command is rejected. */
  readonly deadline: number;
  /** The context of the caller of append(); see `Instrumentation`. */
  readonly context: unknown;
  /** Resolves to the events, as append() does. */
  readonly outcome: Promise<readonly RecordedEvent[]>;
  /** The epoch that the command was prepared for; see `BatchPlanner`. */
  preparedEpoch = -1;
  /** The command's part of the next commit, planned while another commit is in flight. */
  plan?: PlannedAppend;
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
