import type { RecordedLine } from "../../events/event.ts";
import { HEAD_KEY, type ProjectionRecord, recordMutation } from "../keyspace.ts";
import { AppendSize } from "../log/append_size.ts";
import { encodeHead, type Head, type HeadEntry, writtenGenerations } from "../log/head.ts";
import { type LogMutation, logMutations } from "../log/read_log.ts";
import type { Commit, Mutation, StoreLimits } from "../store/store.ts";
import type { PlannedAppend } from "./planned_append.ts";
import type { QueuedCommand } from "./queued_command.ts";

/** Makes events into the records of the projections. */
export type Project = (lines: readonly RecordedLine[]) => ProjectionRecord[];

/** The commands that share one commit on `base`. */
export class Batch {
  readonly base: HeadEntry;
  readonly members: { queued: QueuedCommand; plan: PlannedAppend }[] = [];
  readonly lines: RecordedLine[] = [];
  #generations: number[];
  #size: AppendSize;
  #next: Head;

  /** The commit stays within the limits. */
  constructor(base: HeadEntry, limits: StoreLimits) {
    this.base = base;
    this.#next = base.head;
    this.#generations = writtenGenerations(base.head);
    const generations = this.#generations.length;
    this.#size = new AppendSize({ generations, withLog: true, limits });
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
    for (const line of plan.lines) this.#size.add(line);
    // Commands after an API key event must be prepared again.
    return this.isEmpty || !this.#size.exceedsLimits && !this.changesKeys;
  }

  add(queued: QueuedCommand, plan: PlannedAppend): void {
    this.#next = plan.next;
    this.members.push({ queued, plan });
    this.lines.push(...plan.lines);
  }

  /** Makes the commit, which checks only the head. Add nothing after this. */
  seal(project: Project, now: number): SealedBatch {
    const { base, members, lines } = this;
    const records = project(lines);
    const logRecords = logMutations(base.head.position + 1, lines.map(({ line }) => line));
    const mutations: Mutation[] = [
      ...logRecords,
      ...this.#generations.flatMap((generation) =>
        records.map((record) => recordMutation(generation, record, now))
      ),
      { type: "set", key: HEAD_KEY, value: encodeHead(this.#next) },
    ];
    return {
      base,
      members,
      next: this.#next,
      changesKeys: this.changesKeys,
      events: lines.length,
      records,
      firstLogRecord: logRecords[0],
      commit: { checks: [{ key: HEAD_KEY, versionstamp: base.versionstamp }], mutations },
    };
  }
}

/** A batch and its commit. Retries send the same commit. */
export interface SealedBatch {
  base: HeadEntry;
  members: Batch["members"];
  /** The head after the batch. */
  next: Head;
  changesKeys: boolean;
  /** Number of events. */
  events: number;
  /** The records of the projections, without their generation. */
  records: ProjectionRecord[];
  /** The first log record of the batch. If the store holds exactly this value, the batch landed. */
  firstLogRecord: LogMutation;
  commit: Commit;
}
