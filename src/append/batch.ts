import { assertNever } from "../../events/assert_never.ts";
import { encodeEvent, type RecordedEvent, type RecordedLine } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { HEAD_KEY, logMutations, type ProjectionRecord, retainedMutations } from "../keyspace.ts";
import { encodeHead, type Head, headAfter, type HeadEntry } from "../log/head.ts";
import { HEAD_LIMIT_MS } from "../log/head_reader.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { ServiceError } from "../service_error.ts";
import { sealCommit } from "../store/commit_size.ts";
import type { Mutation, SetMutation, Store } from "../store/store.ts";
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

  /** Plans a batch of waiting commands on the base; `undefined` if none of them has events to store. */
  async plan(base: Base): Promise<Batch | undefined> {
    const candidates = this.#queue.take();
    const preparations = await Promise.allSettled(
      candidates.map(async ({ command }) => await command.prepare(base)),
    );
    const members = this.#decideAll(base, candidates, preparations);
    return members.length === 0 ? undefined : this.#sealMost(base, members);
  }

  /** Decides prepared commands in their order, each after those before it. Returns those with events; the others wait. */
  #decideAll(
    base: Base,
    candidates: readonly QueuedCommand[],
    preparations: readonly PromiseSettledResult<void>[],
  ): Member[] {
    const { limits } = this.#deps.store;
    const { waiting } = this.#queue;
    const members: Member[] = [];
    /** The pets that members change, as the last of them leaves each. */
    const changedPets = new Map<number | undefined, Pet>();
    const idempotencyKeys = new Set<string>();
    const deferred: QueuedCommand[] = [];
    let next = base.head;
    let bytes = 0;
    let count = 0;
    for (const queued of candidates) {
      // Commands after an API key event must be prepared on a head with that event. More lines never fit.
      if (next.keyPosition !== base.head.keyPosition || bytes > limits.commitBytes) break;
      const preparation = preparations[count++];
      if (queued.isSettled) continue;
      const { petId, idempotencyKey } = queued.command;
      if (idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey)) {
        deferred.push(queued);
        continue;
      }
      const changed = changedPets.get(petId);
      const member = memberAfter(next, queued, preparation, changed);
      if (typeof member === "function") {
        // An outcome without events that depends on this commit can be given only after it.
        if (changed === undefined) this.#finish(queued, base, member);
        else deferred.push(queued);
        continue;
      }
      members.push(member);
      next = member.next;
      if (idempotencyKey !== undefined) idempotencyKeys.add(idempotencyKey);
      for (const { event, line } of member.lines) {
        const pet = changedPetOf(event);
        if (pet !== undefined) changedPets.set(pet.id, pet);
        bytes += line.length;
      }
    }
    waiting.unshift(...deferred, ...candidates.slice(count));
    return members;
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

  /** Makes a batch of as many members as fit; the others wait. Rejects those for which no records can be made. */
  #sealMost(base: HeadEntry, members: readonly Member[]): Batch | undefined {
    const { project, store: { limits } } = this.#deps;
    const requeue = (left: readonly Member[]) =>
      this.#queue.waiting.unshift(...left.map(({ queued }) => queued));
    try {
      const { sealed, count } = sealCommit(members, (it) => this.#seal(base, it), limits);
      requeue(members.slice(count));
      return sealed;
    } catch (reason) {
      const sound = members.filter(({ queued, lines }) => {
        try {
          project(lines);
          return true;
        } catch (own) {
          queued.refuse(own);
        }
      });
      // If none fails by itself, they would fail together again.
      if (sound.length < members.length) requeue(sound);
      else for (const { queued } of members) queued.refuse(reason);
    }
  }

  #seal(base: HeadEntry, members: readonly Member[]): Batch {
    const { project, runtime } = this.#deps;
    const lines = members.flatMap(({ lines }) => lines);
    const { next } = members.at(-1)!;
    expectToFollow(base.head, lines, next);
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

/** Returns what a prepared command adds to a commit after `head`, or how to settle it if it adds nothing. */
function memberAfter(
  head: Head,
  queued: QueuedCommand,
  preparation: PromiseSettledResult<void>,
  changed: Pet | undefined,
): Member | (() => void) {
  try {
    if (preparation.status === "rejected") throw preparation.reason;
    const lines: RecordedLine[] = [];
    let next = head;
    for (const decided of queued.command.decide(head, changed)) {
      expectRightClock(decided.time);
      const event = { ...decided, position: next.position + 1, previousHash: next.lastHash };
      const line = encoder.encode(encodeEvent(event));
      next = headAfter(next, event, sha256Hex(line));
      lines.push({ event, line });
    }
    return lines.length === 0 ? () => queued.resolve([]) : { queued, lines, next };
  } catch (reason) {
    return () => queued.refuse(reason);
  }
}

/** The changed pet, on which later commands of the same commit are decided. None of them can know the id of a new pet. */
function changedPetOf({ type, data }: RecordedEvent): Pet | undefined {
  switch (type) {
    case "PetUpdated":
      return data;
    case "PetCreated":
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      return undefined;
    default:
      return assertNever(type);
  }
}

/** Throws unless the lines of a commit follow a head without a gap, up to the next head. */
function expectToFollow(
  { position, lastHash, lastPetId }: Head,
  lines: readonly RecordedLine[],
  next: Head,
): void {
  const isGapless = lines.every(({ event }, index) => event.position === position + 1 + index);
  const hasGrown = next.position === position + lines.length && next.lastPetId >= lastPetId;
  if (isGapless && hasGrown && lines[0].event.previousHash === lastHash) return;
  throw new Error(`A commit of ${lines.length} lines does not follow position ${position}`);
}

/** Throws if a time of the wall clock, in ISO 8601, is beyond the years of four digits that the log can hold. */
export function expectRightClock(time: string): void {
  if (time.length === "2026-01-01T00:00:00.000Z".length) return;
  const message = `The clock of this machine says year ${
    parseInt(time)
  }, which cannot be right: set it`;
  throw new ServiceError("store_unavailable", message);
}
