import type { Head, ProjectionRecord, RecordedEvent, RecordedLine } from "../definitions.ts";
import { encodeEvent, subjectOf } from "../log/event.ts";
import { encodeUtf8Pooled } from "../../encoding/encode_utf8_pooled.ts";
import { sha256Hex } from "../../encoding/sha256.ts";
import { HEAD_KEY, logMutations, projectionMutations } from "../keyspace.ts";
import { addEvent, draftOf, encodeHead, type HeadEntry } from "../log/head.ts";
import { HEAD_LIMIT_MS } from "../log/head_reader.ts";
import { expectRightClock } from "../log/time_of_log.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { sealCommit } from "../store/commit_size.ts";
import type { Mutation, SetMutation, Store } from "../store/store.ts";
import type { Command, QueuedCommand } from "./command.ts";

/** A head to plan a batch on. It was read from the store if a waiting command needs a fresh head, or may be a known one. */
export interface Base extends HeadEntry {
  /** Monotonic time in milliseconds before that read, if there was one. */
  readAt: number;
}

/** An event, its line, and the SHA-256 (hex) of that. */
interface HashedLine extends RecordedLine {
  hash: string;
}

/** A command, what it read, and what it adds to the log after the commands before it. */
interface Member {
  queued: QueuedCommand;
  prepared: unknown;
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

/** The outcome of a command that adds nothing. */
export type Settlement =
  | { kind: "without_events"; queued: QueuedCommand; prepared: unknown }
  | { kind: "refused"; queued: QueuedCommand; reason: unknown };

/** The plan of the next commit. Each candidate that is not settled yet is in exactly one list, or in the batch. */
export interface BatchPlan {
  /** Absent if no command has events. */
  batch?: Batch;
  /** Outcomes that depend on no commit. */
  settled: readonly Settlement[];
  /** The commands that need another commit, in their order. */
  deferred: readonly QueuedCommand[];
  /** Those that add nothing on a head that may be stale. They are prepared once more, on a head that is read for them. */
  unconfirmed: readonly QueuedCommand[];
}

export interface BatchDeps {
  store: Store;
  project: (lines: readonly RecordedLine[]) => ProjectionRecord[];
  runtime: Runtime;
}

/** Prepares the candidates, and plans a commit with the events of as many as fit. Changes none of them. */
export async function planBatch(
  deps: BatchDeps,
  base: Base,
  candidates: readonly QueuedCommand[],
): Promise<BatchPlan> {
  const preparations = await Promise.allSettled(
    candidates.map(async ({ command }) => await command.prepare(base)),
  );
  const decided = decideAll(deps, base, candidates, preparations);
  const { members, settled, deferred, unconfirmed } = decided;
  if (members.length === 0) return { settled, deferred, unconfirmed };
  const sealed = sealMost(deps, base, members);
  return {
    batch: sealed.batch,
    settled: [...settled, ...sealed.settled],
    deferred: [...sealed.deferred, ...deferred],
    unconfirmed,
  };
}

/** Decides prepared commands in their order, each on the head with the events of the commands before it. */
function decideAll(
  { runtime, store: { limits } }: BatchDeps,
  base: Base,
  candidates: readonly QueuedCommand[],
  preparations: readonly PromiseSettledResult<unknown>[],
) {
  const members: Member[] = [];
  const settled: Settlement[] = [];
  const deferred: QueuedCommand[] = [];
  const unconfirmed: QueuedCommand[] = [];
  const head = draftOf(base.head);
  const lastEvents = new Map<string, RecordedEvent>();
  const idempotencyKeys = new Set<string>();
  let bytes = 0;
  let isClosed = false;
  for (const [index, queued] of candidates.entries()) {
    // Its deadline may have passed while it was prepared.
    if (queued.isSettled) continue;
    const { subject, idempotencyKey, isLast = false } = queued.command;
    // More lines never fit.
    const isFull = isClosed || bytes > limits.commitBytes;
    const isKeyUsed = idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey);
    if (isFull || isKeyUsed) {
      deferred.push(queued);
      continue;
    }
    const lastOfSubject = subject === undefined ? undefined : lastEvents.get(subject);
    const decision = decide(head, queued, preparations[index], lastOfSubject);
    if (decision.kind === "member") {
      const { member } = decision;
      members.push(member);
      isClosed = isLast;
      if (idempotencyKey !== undefined) idempotencyKeys.add(idempotencyKey);
      for (const { event, line, hash } of member.lines) {
        addEvent(head, event, hash);
        lastEvents.set(subjectOf(event), event);
        bytes += line.length;
      }
      continue;
    }
    // An outcome that depends on an event of this commit can be given only after it.
    if (lastOfSubject !== undefined) deferred.push(queued);
    else if (isReliable(queued, base, runtime)) settled.push(decision);
    else unconfirmed.push(queued);
  }
  return { members, settled, deferred, unconfirmed };
}

/** Decides a prepared command on `head`: as a member of the commit, or as its outcome if it adds nothing. */
function decide(
  head: Head,
  queued: QueuedCommand,
  preparation: PromiseSettledResult<unknown>,
  lastOfSubject: RecordedEvent | undefined,
): { kind: "member"; member: Member } | Settlement {
  if (preparation.status === "rejected") {
    return { kind: "refused", queued, reason: preparation.reason };
  }
  const prepared = preparation.value;
  try {
    const events = queued.command.decide(head, prepared, lastOfSubject);
    if (events.length === 0) return { kind: "without_events", queued, prepared };
    return { kind: "member", member: { queued, prepared, lines: linesAfter(head, events) } };
  } catch (reason) {
    return { kind: "refused", queued, reason };
  }
}

/** The lines of decided events, each with the hash of the line before it. */
function linesAfter(head: Head, events: ReturnType<Command["decide"]>): HashedLine[] {
  const lines: HashedLine[] = [];
  let { position, lastHash: previousHash } = head;
  for (const decided of events) {
    expectRightClock(decided.time);
    position++;
    const event: RecordedEvent = { ...decided, position, previousHash };
    const line = encodeUtf8Pooled(encodeEvent(event));
    previousHash = sha256Hex(line);
    lines.push({ event, line, hash: previousHash });
  }
  return lines;
}

/**
 * Whether the outcome of a command that adds nothing counts. No commit checks it, so the head must have been read after
 * the command came: others may have appended, or a replay may have removed records that the command read. A command may
 * have come during the read of the base. So it counts only for one that needed a fresh head before that read began.
 */
function isReliable(queued: QueuedCommand, base: Base, runtime: Runtime): boolean {
  const areRecordsKept = runtime.monotonicNow() - base.readAt <= HEAD_LIMIT_MS;
  return queued.needsFreshHead && areRecordsKept;
}

/** Makes a batch of as many members as fit; the others wait. Refuses those for which no records can be made. */
function sealMost(
  deps: BatchDeps,
  base: Base,
  members: readonly Member[],
): Pick<BatchPlan, "batch" | "settled" | "deferred"> {
  const sealMembers = (members: readonly Member[]) => seal(deps, base, members);
  try {
    const { sealed, count } = sealCommit(members, sealMembers, deps.store.limits);
    return { batch: sealed, settled: [], deferred: queuedOf(members.slice(count)) };
  } catch (reason) {
    return refuseFaulty(deps, members, reason);
  }
}

/** Refuses the members that fail by themselves. If none does, they would fail together again, so all are refused. */
function refuseFaulty({ project }: BatchDeps, members: readonly Member[], reason: unknown) {
  const settled: Settlement[] = [];
  const sound: QueuedCommand[] = [];
  for (const { queued, lines } of members) {
    try {
      project(lines);
      sound.push(queued);
    } catch (own) {
      settled.push({ kind: "refused", queued, reason: own });
    }
  }
  if (settled.length > 0) return { settled, deferred: sound };
  const all = sound.map((queued): Settlement => ({ kind: "refused", queued, reason }));
  return { settled: all, deferred: [] };
}

function queuedOf(members: readonly Member[]): QueuedCommand[] {
  return members.map(({ queued }) => queued);
}

function seal({ project }: BatchDeps, base: Base, members: readonly Member[]): Batch {
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

/** Throws unless the lines of a commit follow a head without a gap. */
function expectToFollow({ position, lastHash }: Head, lines: readonly RecordedLine[]): void {
  const isGapless = lines.every(({ event }, index) => event.position === position + 1 + index);
  if (isGapless && lines[0].event.previousHash === lastHash) return;
  throw new Error(`A commit of ${lines.length} lines does not follow position ${position}`);
}
