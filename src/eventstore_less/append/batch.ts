import type { Application } from "../application.ts";
import type { Head, RecordedEvent, RecordedLine } from "../definitions.ts";
import { encodeEvent, subjectOf } from "../log/event.ts";
import { encodeUtf8Pooled } from "../encoding/pooled_bytes.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { HEAD_KEY, logMutations, projectionMutations } from "../keyspace.ts";
import { addEvent, draftOf, encodeHead, type HeadEntry } from "../log/head.ts";
import { expectRightClock } from "../log/time_of_log.ts";
import { project } from "../projections/project.ts";
import { sealCommit } from "../store/commit_size.ts";
import type { Mutation, SetMutation, StoreLimits } from "../store/store.ts";
import { StoreError, StoreRefusedError } from "../store/store_errors.ts";
import type { Command } from "./command.ts";
import type { Effects } from "./preparation.ts";
import type { QueuedCommand } from "./queued_command.ts";
import { expectShortLine, expectStorable } from "./storable_data.ts";

/** An event, its line, and the SHA-256 (hex) of the line. */
interface HashedLine extends RecordedLine {
  hash: string;
}

/** The outcome of a command if the head is still the base of its plan. Unless it `waits`, the plan must be confirmed. */
export type Fate =
  | { kind: "adds"; prepared: unknown; lines: readonly HashedLine[] }
  | { kind: "adds_nothing"; prepared: unknown }
  | { kind: "refused"; reason: unknown }
  /** It is planned again. `storeError` says that the store failed before the command could be decided. */
  | { kind: "waits"; storeError?: StoreError };

/** A command and its fate. */
export interface Planned<F extends Fate = Fate> {
  queued: QueuedCommand;
  fate: F;
}

/** A command that adds events. */
type Member = Planned<Extract<Fate, { kind: "adds" }>>;

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

/**
 * The fates of commands if the head is still `base`. A command that is missing in `planned` waits, too: it is not
 * prepared, was not decided, or does not fit.
 */
export interface Plan {
  base: HeadEntry;
  planned: readonly Planned[];
  /** The commit of those that add events; absent if none does. */
  batch?: Batch;
  /** Whether more commands add events than fit into the commit. */
  isCut?: boolean;
  /** How many such commands a commit probably takes. */
  fit?: number;
}

/** Decides the commands that are prepared on `base`, in their order. Changes none of them. */
export function planBatch(
  application: Application,
  limits: StoreLimits,
  base: HeadEntry,
  queued: readonly QueuedCommand[],
): Plan {
  const planned = decideAll(application, limits, base, queued);
  const members = planned.filter((it): it is Member => it.fate.kind === "adds");
  if (members.length === 0) return { base, planned };
  try {
    return { base, ...sealMost(application, limits, base, planned, members) };
  } catch (reason) {
    // The records of the commit cannot be made. This is a defect, so it is not worth a search for the member that causes it.
    const refused = members.map(({ queued }): Planned => {
      return { queued, fate: { kind: "refused", reason } };
    });
    return { base, planned: refused };
  }
}

/** What a batch changes for commands that were prepared before it. */
export function effectsOf(
  application: Application,
  { base, members, next, lines }: Batch,
): Effects {
  const commands = members.map(({ queued }) => queued.command);
  return {
    base,
    next,
    lastEvents: new Map(lines.map(({ event }) => [subjectOf(application, event), event])),
    idempotencyKeys: new Set(commands.map(({ idempotencyKey }) => idempotencyKey)),
    groups: new Set(commands.map(({ group }) => group)),
    changesApiKey: commands.some(({ endsCommit }) => endsCommit),
  };
}

/** Decides prepared commands in their order, each on the head with the events of the commands before it. */
function decideAll(
  application: Application,
  limits: StoreLimits,
  base: HeadEntry,
  candidates: readonly QueuedCommand[],
): Planned[] {
  const planned: Planned[] = [];
  const head = draftOf(base.head);
  const lastEvents = new Map<string, RecordedEvent>();
  const idempotencyKeys = new Set<string>();
  let bytes = 0;
  let isClosed = false;
  for (const queued of candidates) {
    // Its deadline may have passed while it was prepared.
    if (queued.isSettled) continue;
    const { preparation } = queued;
    if (preparation?.result === undefined) continue;
    const { subject, idempotencyKey, endsCommit = false } = queued.command;
    const isKeyUsed = idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey);
    if (isClosed || isKeyUsed) continue;
    const lastInCommit = subject === undefined ? undefined : lastEvents.get(subject);
    const lastOfSubject = lastInCommit ?? preparation.last;
    const fate = decide(application, head, queued.command, preparation.result, lastOfSubject);
    planned.push({ queued, fate });
    if (fate.kind !== "adds") continue;
    if (idempotencyKey !== undefined) idempotencyKeys.add(idempotencyKey);
    for (const { event, line, hash } of fate.lines) {
      addEvent(application, head, event, hash);
      lastEvents.set(subjectOf(application, event), event);
      bytes += line.length;
    }
    // More lines never fit.
    isClosed = endsCommit || bytes > limits.commitBytes;
  }
  return planned;
}

/** Decides a prepared command on `head`, after the last event of its subject since it was prepared. */
function decide(
  application: Application,
  head: Head,
  command: Command,
  preparation: PromiseSettledResult<unknown>,
  lastOfSubject: RecordedEvent | undefined,
): Fate {
  const fate = decideAlone(application, head, command, preparation, lastOfSubject);
  if (fate.kind === "adds" || lastOfSubject === undefined) return fate;
  // It has read the records as they were before that event.
  return { kind: "waits" };
}

function decideAlone(
  application: Application,
  head: Head,
  command: Command,
  preparation: PromiseSettledResult<unknown>,
  lastOfSubject: RecordedEvent | undefined,
): Fate {
  if (preparation.status === "rejected") return fateAfterFailure(preparation.reason);
  const prepared = preparation.value;
  try {
    const events = command.decide(head, prepared, lastOfSubject);
    if (events.length === 0) return { kind: "adds_nothing", prepared };
    return { kind: "adds", prepared, lines: linesAfter(application, head, events) };
  } catch (reason) {
    return { kind: "refused", reason };
  }
}

/** If the store has failed, nothing is known of the command. Its deadline bounds how often it is prepared again. */
function fateAfterFailure(reason: unknown): Fate {
  const hasStoreFailed = reason instanceof StoreError && !(reason instanceof StoreRefusedError);
  return hasStoreFailed ? { kind: "waits", storeError: reason } : { kind: "refused", reason };
}

/** The lines of decided events, each with the hash of the line before it. */
function linesAfter(
  application: Application,
  head: Head,
  events: ReturnType<Command["decide"]>,
): HashedLine[] {
  const lines: HashedLine[] = [];
  let { position, lastHash: previousHash } = head;
  for (const decided of events) {
    expectRightClock(decided.time);
    position++;
    const event = expectStorable(application, { ...decided, position, previousHash });
    const line = encodeUtf8Pooled(encodeEvent(application, event));
    expectShortLine(event, line);
    previousHash = sha256Hex(line);
    lines.push({ event, line, hash: previousHash });
  }
  return lines;
}

/** Makes a batch of as many members as fit. Later commands wait, because they were decided on events that it leaves out. */
function sealMost(
  application: Application,
  limits: StoreLimits,
  base: HeadEntry,
  planned: readonly Planned[],
  members: readonly Member[],
): Omit<Plan, "base"> {
  const { sealed: batch, count, next: fit } = sealCommit(
    members,
    (it) => seal(application, base, it),
    limits,
  );
  const isCut = count < members.length;
  if (!isCut) return { batch, planned, isCut, fit };
  return { batch, planned: planned.slice(0, planned.indexOf(members[count])), isCut, fit };
}

function seal(application: Application, base: HeadEntry, members: readonly Member[]): Batch {
  const { position, generation } = base.head;
  const lines = members.flatMap(({ fate }) => fate.lines);
  expectToFollow(base.head, lines);
  const next = draftOf(base.head);
  for (const { event, hash } of lines) addEvent(application, next, event, hash);
  const logRecords = logMutations(position + 1, lines.map(({ line }) => line));
  const mutations: Mutation[] = [
    ...logRecords,
    ...projectionMutations(generation, project(application, lines)),
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
