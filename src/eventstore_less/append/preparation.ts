/**
 * What a command reads before it decides. "An append, from command to acknowledgement" in eventstore_less/internals.md
 * explains how long it is valid.
 */

import type { Head, RecordedEvent } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";
import type { Command } from "./command.ts";

/** What the events of a commit change for commands that were prepared before it. */
export interface Effects {
  base: HeadEntry;
  /** The head after it. */
  next: Head;
  /** The last event of each subject. */
  lastEvents: ReadonlyMap<string, RecordedEvent>;
  idempotencyKeys: ReadonlySet<string | undefined>;
  groups: ReadonlySet<string | undefined>;
  changesApiKey: boolean;
}

/** The preparation of a command, under way or ended. */
export class Preparation {
  readonly #command: Command;
  /** The head that it is as of: its base, or a later one. */
  #head: Head;
  /** The last event of the subject of the command after the base. */
  last: RecordedEvent | undefined;
  /** Absent while it is under way. */
  result: PromiseSettledResult<unknown> | undefined;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;

  constructor(command: Command, base: HeadEntry) {
    this.#command = command;
    this.#head = base.head;
    this.ended = this.#run(base);
  }

  async #run(base: HeadEntry): Promise<void> {
    try {
      const value = await this.#command.prepare(base);
      this.result = { status: "fulfilled", value };
    } catch (reason) {
      this.result = { status: "rejected", reason };
    }
  }

  /** Whether the command can be decided on a head by this preparation. The hash proves all events before it. */
  isAsOf({ head }: HeadEntry): boolean {
    return head.lastHash === this.#head.lastHash && head.generation === this.#head.generation;
  }

  /**
   * Makes it as of the head after a commit, if it was as of the head before, and the commit changes nothing that it may
   * have read, except for the subject: the command is decided after the last event of that. These are the rules by
   * which a command follows others in one commit.
   */
  follow({ base, next, lastEvents, idempotencyKeys, groups, changesApiKey }: Effects): void {
    const { subject, idempotencyKey, group } = this.#command;
    const isKeyUsed = idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey);
    const isGroupChanged = group !== undefined && groups.has(group);
    if (!this.isAsOf(base) || changesApiKey || isKeyUsed || isGroupChanged) return;
    this.#head = next;
    const last = subject === undefined ? undefined : lastEvents.get(subject);
    this.last = last ?? this.last;
  }
}
