import { assertNever } from "../../events/assert_never.ts";
import { encodeEvent, type RecordedEvent, type RecordedLine } from "../../events/event.ts";
import type { Pet } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { HEAD_KEY, logMutations, projectionMutations, type ProjectionRecord } from "../keyspace.ts";
import { encodeHead, type Head, headAfter, type HeadEntry } from "../log/head.ts";
import { HEAD_LIMIT_MS } from "../log/head_reader.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { ServiceError } from "../service_error.ts";
import { sealCommit } from "../store/commit_size.ts";
import type { Mutation, SetMutation, Store } from "../store/store.ts";
import type { QueuedCommand } from "./command.ts";

const encoder = new TextEncoder();

/** A head to plan a batch on. If one of the waiting commands was repeated, it was read from the store for them. */
export interface Base extends HeadEntry {
  /** Monotonic time in milliseconds before that read. */
  readAt: number;
}

/** A command, what it adds to the log after the commands before it, and the head after that. */
interface Member {
  queued: QueuedCommand;
  lines: RecordedLine[];
  next: Head;
}

/** Commands that share one commit on `base`, and the head after it. Retries send the same commit. */
export interface Batch {
  base: HeadEntry;
  members: readonly Member[];
  next: Head;
  lines: readonly RecordedLine[];
  /** The first log record of the batch. If the store holds exactly this value, the batch landed. */
  firstLogRecord: SetMutation;
  mutations: Mutation[];
}

export interface BatchDeps {
  store: Store;
  project: (lines: readonly RecordedLine[]) => ProjectionRecord[];
  runtime: Runtime;
}

interface Plan extends BatchDeps {
  base: Base;
  candidates: readonly QueuedCommand[];
  /** The queue to which the candidates return that need another commit. */
  waiting: QueuedCommand[];
}

/** Prepares the candidates, and puts the events of as many as fit into one commit; `undefined` without events. */
export async function planBatch(plan: Plan): Promise<Batch | undefined> {
  const { base, candidates } = plan;
  const preparations = await Promise.allSettled(
    candidates.map(async ({ command }) => await command.prepare(base)),
  );
  const members = decideAll(plan, preparations);
  return members.length === 0 ? undefined : sealMost(plan, members);
}

/** Decides prepared commands in their order, each after those before it. Returns those with events; the others wait. */
function decideAll(plan: Plan, preparations: readonly PromiseSettledResult<void>[]): Member[] {
  const { base, candidates, store: { limits }, waiting } = plan;
  const members: Member[] = [];
  /** The pets that members change, as the last of them leaves each. */
  const changedPets = new Map<number | undefined, Pet>();
  /** The Idempotency-Keys of members, and the pets that they remove: other commands of these wait. */
  const taken = new Set<string | number | undefined>();
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
    if (taken.has(idempotencyKey) || taken.has(petId)) {
      deferred.push(queued);
      continue;
    }
    const changed = changedPets.get(petId);
    const member = memberAfter(next, queued, preparation, changed);
    if (typeof member === "function") {
      // An outcome without events that depends on this commit can be given only after it.
      if (changed === undefined) finish(plan, queued, member);
      else deferred.push(queued);
      continue;
    }
    members.push(member);
    next = member.next;
    if (idempotencyKey !== undefined) taken.add(idempotencyKey);
    for (const { event, line } of member.lines) {
      const pet = changedPetOf(event);
      if (pet !== undefined) changedPets.set(pet.id, pet);
      if (event.type === "PetRemoved") taken.add(event.data.id);
      bytes += line.length;
    }
  }
  waiting.unshift(...deferred, ...candidates.slice(count));
  return members;
}

/**
 * Settles a command without events, or a refused one. No commit checks that, so it counts only on a head that was read
 * after the first prepare(): others may have appended, or a replay may have removed records that the command read.
 */
function finish({ base, runtime, waiting }: Plan, queued: QueuedCommand, settle: () => void): void {
  const areRecordsKept = runtime.monotonicNow() - base.readAt <= HEAD_LIMIT_MS;
  if (queued.wasRepeated && areRecordsKept) return settle();
  queued.wasRepeated = true;
  waiting.push(queued);
}

/** Makes a batch of as many members as fit; the others wait. Rejects those for which no records can be made. */
function sealMost(plan: Plan, members: readonly Member[]): Batch | undefined {
  const { project, store: { limits }, waiting } = plan;
  const requeue = (left: readonly Member[]) => waiting.unshift(...left.map(({ queued }) => queued));
  try {
    const { sealed, count } = sealCommit(members, (it) => seal(plan, it), limits);
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

function seal({ base, project }: Plan, members: readonly Member[]): Batch {
  const { position, generation } = base.head;
  const lines = members.flatMap(({ lines }) => lines);
  const { next } = members.at(-1)!;
  expectToFollow(base.head, lines, next);
  const logRecords = logMutations(position + 1, lines.map(({ line }) => line));
  const mutations: Mutation[] = [
    ...logRecords,
    ...projectionMutations(generation, project(lines)),
    { type: "set", key: HEAD_KEY, value: encodeHead(next) },
  ];
  return { base, members, next, lines, firstLogRecord: logRecords[0], mutations };
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
    case "PetRemoved":
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      return undefined;
    default:
      return assertNever(type);
  }
}

/** Throws unless the lines of a commit follow a head without a gap, up to the next head. */
function expectToFollow(head: Head, lines: readonly RecordedLine[], next: Head): void {
  const { position, lastHash, lastPetId } = head;
  const isGapless = lines.every(({ event }, index) => event.position === position + 1 + index);
  const hasGrown = next.position === position + lines.length && next.lastPetId >= lastPetId;
  if (isGapless && hasGrown && lines[0].event.previousHash === lastHash) return;
  throw new Error(`A commit of ${lines.length} lines does not follow position ${position}`);
}

/** Throws if a time of the wall clock, in ISO 8601, is beyond the years of four digits that the log can hold. */
export function expectRightClock(time: string): void {
  if (time.length === "2026-01-01T00:00:00.000Z".length) return;
  const year = `The clock of this machine says year ${parseInt(time)}`;
  throw new ServiceError("store_unavailable", `${year}, which cannot be right: set it`);
}
