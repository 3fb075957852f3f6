/**
 * The reads of a command before it decides. "An append, from command to acknowledgement" in eventstore_less/internals.md
 * explains how long it is valid.
 */

import type { Head, ProjectionKey, RecordedEvent } from "../definitions.ts";
import type { HeadEntry } from "../log/head.ts";
import type { Command } from "./command.ts";
import { ReadKeys, type WrittenKeys } from "./written_keys.ts";

/** What the events of a commit change for commands that were prepared before it. */
export interface Effects {
  base: HeadEntry;
  /** The head after it. */
  next: Head;
  /** The last event of each subject. */
  lastEvents: ReadonlyMap<string, RecordedEvent>;
  idempotencyKeys: ReadonlySet<string | undefined>;
  groups: ReadonlySet<string | undefined>;
  /** Whether they change what every command reads. */
  endsCommit: boolean;
  written: Pick<WrittenKeys, "hasAnyOf">;
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
  #reads: ReadKeys | undefined;
  /** Whether it has followed a commit while it was under way. What it reads after that may be newer than its base. */
  #isOvertaken = false;
  #isMixed = false;

  constructor(command: Command, base: HeadEntry) {
    this.#command = command;
    this.#head = base.head;
    this.ended = this.#run(base);
  }

  async #run(base: HeadEntry): Promise<void> {
    try {
      const value = await this.#command.prepare(base, this);
      this.result = { status: "fulfilled", value };
    } catch (reason) {
      this.result = { status: "rejected", reason };
    }
  }

  /** Notes a record before it is read, so that a commit that writes the record ends the preparation. */
  noteRead(key: ProjectionKey): void {
    this.#readsSoFar().addKey(key);
  }

  /** Notes a list before it is read: all records whose keys begin with the prefix. */
  noteList(prefix: ProjectionKey): void {
    this.#readsSoFar().addPrefix(prefix);
  }

  #readsSoFar(): ReadKeys {
    // Records of two moments could contradict each other.
    this.#isMixed ||= this.#isOvertaken;
    return this.#reads ??= new ReadKeys();
  }

  /** Whether the command can be decided on a head by this preparation. The hash proves all events before it. */
  isAsOf({ head }: HeadEntry): boolean {
    return head.lastHash === this.#head.lastHash && head.generation === this.#head.generation &&
      !this.#isMixed;
  }

  /** Whether events that are not committed yet write any record that it has noted. */
  hasReadAnyOf(written: Effects["written"]): boolean {
    return this.#reads !== undefined && written.hasAnyOf(this.#reads);
  }

  /**
   * Makes it as of the head after a commit, if it was as of the head before, and the commit changes nothing that it may
   * have read, except for the subject: the command is decided after the last event of that. These are the rules by
   * which a command follows others in one commit.
   */
  follow({ base, next, lastEvents, idempotencyKeys, groups, endsCommit, written }: Effects): void {
    const { subject, idempotencyKey, group } = this.#command;
    const isKeyUsed = idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey);
    const isGroupChanged = group !== undefined && groups.has(group);
    if (!this.isAsOf(base) || endsCommit || isKeyUsed || isGroupChanged) return;
    if (this.hasReadAnyOf(written)) return;
    this.#isOvertaken = this.result === undefined;
    this.#head = next;
    const last = subject === undefined ? undefined : lastEvents.get(subject);
    this.last = last ?? this.last;
  }
}
