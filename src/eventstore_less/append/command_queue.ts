/** The commands of an instance that wait for a commit. Each owner has its share of the queue, and of each plan. */

import { ServiceError } from "../service_error.ts";
import type { QueuedCommand } from "./queued_command.ts";

/**
 * Maximum number of waiting commands, without those that a step has taken. It is more than the usual number of connections
 * of a client, because one that repeats refused requests at once takes the processor from others.
 */
export const QUEUE_LIMIT = 4_096;

type Owner = QueuedCommand["command"]["owner"];

export class CommandQueue {
  /** The commands of each owner in their order. The owner that was served least recently is the first. */
  #byOwner = new Map<Owner, QueuedCommand[]>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** All of them. */
  get commands(): QueuedCommand[] {
    return [...this.#byOwner.values()].flat();
  }

  /** Whether take() would take any command. */
  get canTake(): boolean {
    if (this.#length === 0) return false;
    const obstacles = this.#obstacles();
    for (const commands of this.#byOwner.values()) {
      for (const queued of commands) {
        if (obstacles.letPass(queued)) return true;
        obstacles.noteWaiting(queued);
      }
    }
    return false;
  }

  /**
   * Adds a command. If the queue is full, the newest command of the owner that has the most is refused with `overloaded`.
   * If that is the owner of this command, add() throws instead.
   */
  add(queued: QueuedCommand): void {
    const { owner } = queued.command;
    if (this.#length >= QUEUE_LIMIT) this.#makeRoom(owner);
    const ofOwner = this.#byOwner.get(owner);
    if (ofOwner === undefined) this.#byOwner.set(owner, [queued]);
    else ofOwner.push(queued);
    this.#length++;
  }

  #makeRoom(owner: Owner): void {
    const count = this.#byOwner.get(owner)?.length ?? 0;
    let longest: QueuedCommand[] = [];
    for (const commands of this.#byOwner.values()) {
      if (commands.length > longest.length) longest = commands;
    }
    const error = new ServiceError("overloaded", "Too many requests wait for a commit");
    if (longest.length <= count + 1) throw error;
    const newest = longest.pop()!;
    this.#length--;
    // It is in no commit, so nothing of it was stored.
    newest.refuse(error, false);
  }

  /**
   * Takes at most `count` commands, of each owner in turn, but of each group only the first, and none before an earlier one
   * of its sequence. Those of an owner follow each other, so that nothing comes between commands that arrive together and
   * share a commit.
   */
  take(count: number): QueuedCommand[] {
    const obstacles = this.#obstacles();
    let taken = 0;
    const lines = Array.from(this.#byOwner, ([owner, commands]) => new Line(owner, commands));
    let waiting = lines;
    while (waiting.length > 0 && taken < count) {
      for (const line of waiting.slice(0, count - taken)) {
        if (!line.take(obstacles)) continue;
        taken++;
        line.servedLast = taken;
      }
      waiting = waiting.filter(({ hasEnded }) => !hasEnded);
    }
    const served = lines.filter(({ servedLast }) => servedLast > 0);
    // The owner of the last command comes last in the next plan.
    for (const { owner, rest } of served.sort((one, other) => one.servedLast - other.servedLast)) {
      this.#byOwner.delete(owner);
      if (rest.length > 0) this.#byOwner.set(owner, rest);
    }
    this.#length -= taken;
    return lines.flatMap((line) => line.taken);
  }

  /**
   * Puts commands that were taken in front of the others of their owners, because they came before them. For the same
   * reason, their owners are the first in the next plan: otherwise, another owner could always change their subject first.
   * A command that is still being prepared gives its owner no such turn.
   */
  putBack(commands: readonly QueuedCommand[]): void {
    if (commands.length === 0) return;
    for (const [owner, earlier] of Map.groupBy(commands, ({ command }) => command.owner)) {
      this.#byOwner.set(owner, earlier.concat(this.#byOwner.get(owner) ?? []));
    }
    this.#length += commands.length;
    const ready = commands.filter(({ isPreparing }) => !isPreparing);
    const owners = new Set(ready.map(({ command }) => command.owner)).union(this.#byOwner);
    this.#byOwner = new Map(Array.from(owners, (owner) => [owner, this.#byOwner.get(owner)!]));
  }

  /** Removes the commands that have their outcomes. */
  removeSettled(): void {
    this.#length = 0;
    for (const [owner, commands] of this.#byOwner) {
      const rest = commands.filter(({ isSettled }) => !isSettled);
      if (rest.length > 0) this.#byOwner.set(owner, rest);
      else this.#byOwner.delete(owner);
      this.#length += rest.length;
    }
  }

  /** Those of the commands that are still being prepared. */
  #obstacles(): Obstacles {
    const obstacles = new Obstacles();
    for (const commands of this.#byOwner.values()) {
      for (const queued of commands) {
        if (queued.isPreparing) obstacles.noteInWork(queued);
      }
    }
    return obstacles;
  }
}

/** The groups and the sequences for which later commands must wait. */
class Obstacles {
  /** The groups that have a command which is planned, or is still being prepared. */
  readonly #groups = new Set<string>();
  /** The sequences that have a command which waits. */
  readonly #sequences = new Set<symbol>();

  /** Whether a command is not being prepared, and waits neither for one of its group nor for one of its sequence. */
  letPass({ isPreparing, command: { group, sequence } }: QueuedCommand): boolean {
    if (isPreparing) return false;
    if (group !== undefined && this.#groups.has(group)) return false;
    return sequence === undefined || !this.#sequences.has(sequence);
  }

  /** Notes a command that is planned, or is still being prepared. */
  noteInWork({ command: { group } }: QueuedCommand): void {
    if (group !== undefined) this.#groups.add(group);
  }

  /** Notes a command that is not planned now. The later ones of its sequence come from the same owner. */
  noteWaiting({ command: { sequence } }: QueuedCommand): void {
    if (sequence !== undefined) this.#sequences.add(sequence);
  }
}

/** The commands of an owner, while some of them are taken in their order. */
class Line {
  readonly owner: Owner;
  #commands: readonly QueuedCommand[];
  #next = 0;
  #left: QueuedCommand[] = [];
  /** The number of commands that were taken when one of this owner was taken last; 0 before the first one. */
  servedLast = 0;
  readonly taken: QueuedCommand[] = [];

  constructor(owner: Owner, commands: readonly QueuedCommand[]) {
    this.owner = owner;
    this.#commands = commands;
  }

  /** Takes the next command that can be planned, if there is one. */
  take(obstacles: Obstacles): boolean {
    while (!this.hasEnded) {
      const queued = this.#commands[this.#next];
      this.#next++;
      if (obstacles.letPass(queued)) {
        obstacles.noteInWork(queued);
        this.taken.push(queued);
        return true;
      }
      obstacles.noteWaiting(queued);
      this.#left.push(queued);
    }
    return false;
  }

  get hasEnded(): boolean {
    return this.#next === this.#commands.length;
  }

  /** Those that were not taken. */
  get rest(): QueuedCommand[] {
    return [...this.#left, ...this.#commands.slice(this.#next)];
  }
}
