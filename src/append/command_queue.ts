import type { QueuedCommand } from "./queued_command.ts";

/** The commands of an instance: those that wait for a commit, and all that have no outcome yet. */
export class CommandQueue {
  #waiting: QueuedCommand[] = [];
  /** All unsettled commands and some settled ones, in order of their deadlines. */
  #arrivals: QueuedCommand[] = [];

  /** Number of commands that wait for a commit. */
  get length(): number {
    return this.#waiting.length;
  }

  get last(): QueuedCommand | undefined {
    return this.#waiting.at(-1);
  }

  add(queued: QueuedCommand): void {
    this.#waiting.push(queued);
    this.#arrivals.push(queued);
  }

  /** Removes at most `limit` commands, the oldest first. Settled ones are dropped. */
  take(limit: number): QueuedCommand[] {
    return this.#waiting.splice(0, limit).filter(({ isSettled }) => !isSettled);
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
