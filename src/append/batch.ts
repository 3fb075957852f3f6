import { encodeEvent, type RecordedLine } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { HEAD_KEY, logMutations, type ProjectionRecord, retainedMutations } from "../keyspace.ts";
import { encodeHead, type Head, headAfter, type HeadEntry } from "../log/head.ts";
import { HEAD_LIMIT_MS } from "../log/head_reader.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { sealCommit } from "../store/commit_size.ts";
import type { Mutation, SetMutation, Store } from "../store/store.ts";
import type { Instrumentation } from "../telemetry/instrumentation.ts";
import type { CommandQueue, QueuedCommand } from "./command_queue.ts";

const encoder = new TextEncoder();

/** Makes events into the records of the projections. */
export type Project = (lines: readonly RecordedLine[]) => ProjectionRecord[];

/** A head to plan a batch on. */
export interface Base extends HeadEntry {
  /** Monotonic time in milliseconds at which the last read of a head from the store started. */
  readAt: number;
}

/** A command, and what it adds to the log after the commands before it. */
interface Member {
  queued: QueuedCommand;
  lines: RecordedLine[];
  /** The head after these lines. */
  next: Head;
}

/** Commands that share one commit on `base`. Retries send the same commit. */
export interface Batch {
  base: HeadEntry;
  members: readonly Member[];
  /** The head after the batch. */
  next: Head;
  lines: readonly RecordedLine[];
  /** The first log record of the batch. If the store holds exactly this value, the batch landed. */
  firstLogRecord: SetMutation;
  mutations: Mutation[];
}

export interface BatchPlannerDeps {
  store: Store;
  project: Project;
  runtime: Runtime;
  instrumentation: Instrumentation;
}

/** Prepares the waiting commands, asks each for its events, and puts as many as fit into one commit. */
export class BatchPlanner {
  /** Set if the next base must be read from the store, even if a latest head is known. */
  needsFreshBase = false;
  #deps: BatchPlannerDeps;
  #queue: CommandQueue;

  constructor(deps: BatchPlannerDeps, queue: CommandQueue) {
    this.#deps = deps;
    this.#queue = queue;
  }

  /** Plans a batch of waiting commands on the base; `undefined` if none of them has events. */
  async plan(base: Base): Promise<Batch | undefined> {
    const { instrumentation, store: { limits } } = this.#deps;
    const { waiting } = this.#queue;
    const candidates = waiting.splice(0).filter(({ isSettled }) => !isSettled);
    const preparations = await Promise.allSettled(
      candidates.map(({ command, context }) =>
        instrumentation.restore(context, async () => await command.prepare(base))
      ),
    );
    const members: Member[] = [];
    const deferred: QueuedCommand[] = [];
    const changedPets = new Map<number | undefined, Pet>();
    const names = new Set<string | undefined>();
    let next = base.head;
    let bytes = 0;
    let count = 0;
    for (const [index, queued] of candidates.entries()) {
      // Commands after an API key event must be prepared on a head with that event. More lines never fit.
      if (next.keyPosition !== base.head.keyPosition || bytes > limits.commitBytes) break;
      count++;
      if (queued.isSettled) continue;
      const { petId, name } = queued.command;
      if (names.has(name)) {
        deferred.push(queued);
        continue;
      }
      const changed = changedPets.get(petId);
      // An outcome without events that depends on this commit can be given only after it.
      const finish = (settle: () => void) =>
        changed === undefined ? this.#finish(queued, base, settle) : deferred.push(queued);
      try {
        const preparation = preparations[index];
        if (preparation.status === "rejected") throw preparation.reason;
        const member = memberAfter(next, queued, changed);
        if (member.lines.length === 0) {
          finish(() => queued.resolve([]));
          continue;
        }
        members.push(member);
        if (name !== undefined) names.add(name);
        next = member.next;
        for (const { event, line } of member.lines) {
          if (event.type === "PetUpdated") changedPets.set(event.data.id, event.data);
          bytes += line.length;
        }
      } catch (reason) {
        finish(() => queued.refuse(reason));
      }
    }
    waiting.unshift(...deferred, ...candidates.slice(count));
    if (members.length === 0) return undefined;
    const batch = sealCommit(members, (it) => this.#seal(base, it), limits).sealed;
    waiting.unshift(...members.slice(batch.members.length).map(({ queued }) => queued));
    return batch;
  }

  /**
   * Settles a command without events, or with a refusal, once it was prepared at least twice. No commit checks such
   * an outcome, so it counts only on a head that was read after the first time: meanwhile another instance may have
   * appended, or a replay may have removed the records that the command read.
   */
  #finish(queued: QueuedCommand, base: Base, settle: () => void): void {
    const areRecordsKept = this.#deps.runtime.monotonicNow() - base.readAt <= HEAD_LIMIT_MS;
    if (queued.wasRepeated && areRecordsKept) return settle();
    queued.wasRepeated = true;
    this.needsFreshBase = true;
    this.#queue.waiting.push(queued);
  }

  #seal(base: HeadEntry, members: readonly Member[]): Batch {
    const { project, runtime } = this.#deps;
    const lines = members.flatMap(({ lines }) => lines);
    const { next } = members.at(-1)!;
    const now = runtime.now();
    const logRecords = logMutations(base.head.position + 1, lines.map(({ line }) => line));
    const mutations: Mutation[] = [
      ...logRecords,
      ...retainedMutations(base.head.generation, project(lines), now),
      { type: "set", key: HEAD_KEY, value: encodeHead(next) },
    ];
    const [firstLogRecord] = logRecords;
    return { base, members, next, lines, firstLogRecord, mutations };
  }
}

/** Plans what a prepared command adds to a commit after `head`. Throws the refusal of the command. */
function memberAfter(head: Head, queued: QueuedCommand, changed: Pet | undefined): Member {
  const lines: RecordedLine[] = [];
  let next = head;
  for (const decided of queued.command.decide(head, changed)) {
    const event = { ...decided, position: next.position + 1, previousHash: next.lastHash };
    const line = encoder.encode(encodeEvent(event));
    next = headAfter(next, event, sha256Hex(line));
    lines.push({ event, line });
  }
  return { queued, lines, next };
}
