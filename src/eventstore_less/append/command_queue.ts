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
    return !this.#candidates().next().done;
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

  /** Takes at most `count` commands, of each owner in turn, but of each group only the first. */
  take(count: number): QueuedCommand[] {
    const taken = this.#candidates().take(count).toArray();
    const served = new Set<Owner>();
    for (const { command: { owner } } of taken) {
      // The owner of the last command comes last in the next plan.
      served.delete(owner);
      served.add(owner);
    }
    const isTaken = new Set(taken);
    for (const owner of served) {
      const rest = this.#byOwner.get(owner)!.filter((queued) => !isTaken.has(queued));
      this.#byOwner.delete(owner);
      if (rest.length > 0) this.#byOwner.set(owner, rest);
    }
    this.#length -= taken.length;
    return taken;
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

  /** The commands that can be planned, of each owner in turn. */
  #candidates(): Generator<QueuedCommand> {
    const groups = new Set<string>();
    for (const { isPreparing, command: { group } } of this.commands) {
      if (isPreparing && group !== undefined) groups.add(group);
    }
    return inTurn([...this.#byOwner.values()].map((commands) => plannable(commands, groups)));
  }
}

/** The commands that are not being prepared, and do not wait for one of their group. Adds theirs to `groups`. */
function* plannable(
  commands: readonly QueuedCommand[],
  groups: Set<string>,
): Generator<QueuedCommand> {
  for (const queued of commands) {
    const { isPreparing, command: { group } } = queued;
    const waitsForGroup = group !== undefined && groups.has(group);
    if (isPreparing || waitsForGroup) continue;
    if (group !== undefined) groups.add(group);
    yield queued;
  }
}

/** One value of each generator in turn, until all have ended. */
function* inTurn<T>(generators: readonly Generator<T>[]): Generator<T> {
  const rest = new Set(generators);
  while (rest.size > 0) {
    for (const generator of rest) {
      const { done, value } = generator.next();
      if (done) rest.delete(generator);
      else yield value;
    }
  }
}
