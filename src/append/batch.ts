import {
  encodeEvent,
  type RecordedEvent,
  type RecordedLine,
  subjectOf,
} from "../../events/event.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { HEAD_KEY, logMutations, projectionMutations, type ProjectionRecord } from "../keyspace.ts";
import { addEvent, draftOf, encodeHead, type Head, type HeadEntry } from "../log/head.ts";
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

/** An event, its line, and the SHA-256 (hex) of that. */
interface HashedLine extends RecordedLine {
  hash: string;
}

/** A command, and what it adds to the log after the commands before it. */
interface Member {
  queued: QueuedCommand;
  lines: HashedLine[];
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
  /** The last event of each subject. */
  const lastEvents = new Map<string | undefined, RecordedEvent>();
  const idempotencyKeys = new Set<string>();
  const deferred: QueuedCommand[] = [];
  const head = draftOf(base.head);
  let bytes = 0;
  let count = 0;
  let isComplete = false;
  for (const queued of candidates) {
    // More lines never fit.
    if (isComplete || bytes > limits.commitBytes) break;
    const preparation = preparations[count++];
    if (queued.isSettled) continue;
    const { subject, idempotencyKey, isLast = false } = queued.command;
    if (idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey)) {
      deferred.push(queued);
      continue;
    }
    const last = lastEvents.get(subject);
    const member = memberAfter(head, queued, preparation, last);
    if (typeof member === "function") {
      // An outcome without events that depends on this commit can be given only after it.
      if (last === undefined) finish(plan, queued, member);
      else deferred.push(queued);
      continue;
    }
    members.push(member);
    isComplete = isLast;
    if (idempotencyKey !== undefined) idempotencyKeys.add(idempotencyKey);
    for (const { event, line, hash } of member.lines) {
      addEvent(head, event, hash);
      lastEvents.set(subjectOf(event), event);
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
  expectToFollow(base.head, lines);
  const next = draftOf(base.head);
  for (const { event, hash } of lines) addEvent(next, event, hash);
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
  last: RecordedEvent | undefined,
): Member | (() => void) {
  try {
    if (preparation.status === "rejected") throw preparation.reason;
    const lines: HashedLine[] = [];
    let { position, lastHash: previousHash } = head;
    for (const decided of queued.command.decide(head, last)) {
      expectRightClock(decided.time);
      position++;
      const event: RecordedEvent = { ...decided, position, previousHash };
      const line = encoder.encode(encodeEvent(event));
      previousHash = sha256Hex(line);
      lines.push({ event, line, hash: previousHash });
    }
    return lines.length === 0 ? () => queued.resolve([]) : { queued, lines };
  } catch (reason) {
    return () => queued.refuse(reason);
  }
}

/** Throws unless the lines of a commit follow a head without a gap. */
function expectToFollow({ position, lastHash }: Head, lines: readonly RecordedLine[]): void {
  const isGapless = lines.every(({ event }, index) => event.position === position + 1 + index);
  if (isGapless && lines[0].event.previousHash === lastHash) return;
  throw new Error(`A commit of ${lines.length} lines does not follow position ${position}`);
}

/** Whether a time in ISO 8601 has a year of four digits, as those that the log can hold. */
export function isTimeOfLog(time: string): boolean {
  return time.length === "2026-01-01T00:00:00.000Z".length;
}

/** Throws if a time of the wall clock, in ISO 8601, is beyond the years that the log can hold. */
export function expectRightClock(time: string): void {
  if (isTimeOfLog(time)) return;
  const year = `The clock of this machine says year ${parseInt(time)}`;
  throw new ServiceError("store_unavailable", `${year}, which cannot be right: set it`);
}
