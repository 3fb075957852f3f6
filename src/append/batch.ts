import type { RecordedEvent } from "../../events/event.ts";
import { HEAD_KEY, type ProjectionRecord } from "../keyspace.ts";
import { encodeHead, type Head, type HeadEntry } from "../log/head.ts";
import { CommitSize } from "../store/commit_size.ts";
import type { Commit, Mutation } from "../store/store.ts";
import type { PlannedAppend } from "./planned_append.ts";
import type { QueuedCommand } from "./queued_command.ts";

/** The commands that share one commit on `base`. */
export class Batch {
  readonly base: HeadEntry;
  readonly members: { queued: QueuedCommand; events: readonly RecordedEvent[] }[] = [];
  readonly lines: Uint8Array[] = [];
  readonly records: ProjectionRecord[] = [];
  #mutations: Mutation[] = [];
  #size = new CommitSize();
  #next: Head;

  constructor(base: HeadEntry) {
    this.base = base;
    this.#next = base.head;
  }

  /** The head after this batch. */
  get next(): Head {
    return this.#next;
  }

  get isEmpty(): boolean {
    return this.members.length === 0;
  }

  /** Whether the batch contains an API key event. */
  get changesKeys(): boolean {
    return this.#next.keyPosition !== this.base.head.keyPosition;
  }

  /** Whether a command's part fits into the same commit. Call add() next if it does. */
  hasRoomFor(plan: PlannedAppend): boolean {
    for (const mutation of plan.mutations) this.#size.add(mutation);
    // Commands after an API key event must be prepared again.
    return this.isEmpty || !this.#size.exceedsLimits && !this.changesKeys;
  }

  add(queued: QueuedCommand, plan: PlannedAppend): void {
    this.#next = plan.next;
    this.members.push({ queued, events: plan.events });
    this.lines.push(...plan.lines);
    this.records.push(...plan.records);
    this.#mutations.push(...plan.mutations);
  }

  /** The commit. It checks only the head, and replaces it. */
  commit(): Commit {
    const head: Mutation = { type: "set", key: HEAD_KEY, value: encodeHead(this.#next) };
    return {
      checks: [{ key: HEAD_KEY, versionstamp: this.base.versionstamp }],
      mutations: [...this.#mutations, head],
    };
  }
}
