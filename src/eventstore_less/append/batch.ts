import type { Application } from "../application.ts";
import type { Head, ProjectionRecord, RecordedEvent, RecordedLine } from "../definitions.ts";
import { encodeEvent, subjectOf } from "../log/event.ts";
import { encodeUtf8Pooled } from "../encoding/pooled_bytes.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { HEAD_KEY, isProjectionKey, logMutations, projectionMutations } from "../keyspace.ts";
import { addEvent, draftOf, encodeHead, type HeadEntry } from "../log/head.ts";
import { expectRightClock } from "../log/time_of_log.ts";
import { projectOne, withoutReplaced } from "../projections/project.ts";
import { CHECKSUM_BYTES } from "../store/checksum.ts";
import { sealCommit } from "../store/commit_size.ts";
import {
  type Mutation,
  type SetMutation,
  STORE_LIMITS,
  type StoreLimits,
  VALUE_BYTES_LIMIT,
} from "../store/store.ts";
import { StoreError, StoreRefusedError } from "../store/store_errors.ts";
import type { Command } from "./command.ts";
import type { Effects } from "./preparation.ts";
import type { QueuedCommand } from "./queued_command.ts";
import { expectShortLine, expectStorable, InvalidEventError } from "./storable_data.ts";
import { WrittenKeys } from "./written_keys.ts";

/** Longest content of a record, in bytes. */
const RECORD_LIMIT_BYTES = VALUE_BYTES_LIMIT - CHECKSUM_BYTES;

/** An event with its subject, its line, the SHA-256 (hex) of the line, and the records that follow from it. */
interface PlannedLine extends RecordedLine {
  subject: string;
  hash: string;
  records: readonly ProjectionRecord[];
}

/** The outcome of a command if the head is still the base of its plan. Unless it `waits`, the plan must be confirmed. */
export type Fate =
  | { kind: "adds"; prepared: unknown; lines: readonly PlannedLine[] }
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
export type Member = Planned<Extract<Fate, { kind: "adds" }>>;

/** Commands that share one commit on `base`, and the head after it. Retries send the same commit. */
export interface Batch {
  base: HeadEntry;
  members: readonly Member[];
  next: Head;
  lines: readonly RecordedLine[];
  /** The records that the lines write or remove, in their order. */
  records: ProjectionRecord[];
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

/** Commands that are refused for reasons that only the store shows. */
export type Refusals = ReadonlyMap<QueuedCommand, Error>;

/** Decides the commands that are prepared on `base`, in their order, but refuses some. Changes none of them. */
export function planBatch(
  application: Application,
  limits: StoreLimits,
  base: HeadEntry,
  queued: readonly QueuedCommand[],
  refusals: Refusals = new Map(),
): Plan {
  const { planned, head } = decideAll(application, limits, base, queued, refusals);
  const members = planned.filter((it): it is Member => it.fate.kind === "adds");
  if (members.length === 0) return { base, planned };
  try {
    return { base, ...sealMost(application, limits, base, planned, members, head) };
  } catch (reason) {
    // Each member was planned, but the commit cannot be made. This is a defect, so it is not worth a search.
    const refused = members.map(({ queued }): Planned => {
      return { queued, fate: { kind: "refused", reason } };
    });
    return { base, planned: refused };
  }
}

/** What a batch changes for commands that were prepared before it. */
export function effectsOf({ base, members, next, records }: Batch): Effects {
  const commands = members.map(({ queued }) => queued.command);
  const lines = members.flatMap(({ fate }) => fate.lines);
  return {
    base,
    next,
    lastEvents: new Map(lines.map(({ subject, event }) => [subject, event])),
    idempotencyKeys: new Set(commands.map(({ idempotencyKey }) => idempotencyKey)),
    groups: new Set(commands.map(({ group }) => group)),
    endsCommit: commands.some(({ endsCommit }) => endsCommit),
    written: new WrittenKeys(records),
  };
}

/** Decides prepared commands in their order, each on the head with the events of the commands before it: `head` after all. */
function decideAll(
  application: Application,
  limits: StoreLimits,
  base: HeadEntry,
  candidates: readonly QueuedCommand[],
  refusals: Refusals,
): { planned: Planned[]; head: Head } {
  const planned: Planned[] = [];
  const head = draftOf(base.head);
  const lastEvents = new Map<string, RecordedEvent>();
  const idempotencyKeys = new Set<string>();
  const records: ProjectionRecord[] = [];
  const written = new WrittenKeys(records);
  /** The sequences that have a command which waits. Nobody asks for `undefined`, that of commands without a sequence. */
  const sequences = new Set<symbol | undefined>();
  let bytes = 0;
  let isClosed = false;
  for (const queued of candidates) {
    const { preparation } = queued;
    const { subject, idempotencyKey, sequence, endsCommit = false } = queued.command;
    const isKeyUsed = idempotencyKey !== undefined && idempotencyKeys.has(idempotencyKey);
    const isBehind = sequence !== undefined && sequences.has(sequence);
    const mustWait = isClosed || isKeyUsed || isBehind;
    if (mustWait || preparation?.result === undefined || preparation.hasReadAnyOf(written)) {
      sequences.add(sequence);
      continue;
    }
    const reason = refusals.get(queued);
    if (reason !== undefined) {
      planned.push({ queued, fate: { kind: "refused", reason } });
      continue;
    }
    const lastInCommit = subject === undefined ? undefined : lastEvents.get(subject);
    const lastOfSubject = lastInCommit ?? preparation.last;
    const before = { head, lastEvents };
    const fate = decide(application, before, queued.command, preparation.result, lastOfSubject);
    planned.push({ queued, fate });
    if (fate.kind === "waits") sequences.add(sequence);
    if (fate.kind !== "adds") continue;
    if (idempotencyKey !== undefined) idempotencyKeys.add(idempotencyKey);
    for (const { event, line, hash, subject: changed, records: ofLine } of fate.lines) {
      addEvent(application, head, event, hash);
      lastEvents.set(changed, event);
      for (const record of ofLine) records.push(record);
      bytes += line.length;
    }
    // More lines never fit.
    isClosed = endsCommit || bytes > limits.commitBytes;
  }
  return { planned, head };
}

/** The head and the last event of each subject, with the events that a commit has so far. */
interface BeforeCommand {
  head: Head;
  lastEvents: ReadonlyMap<string, RecordedEvent>;
}

/** Decides a prepared command after the last event of its subject since it was prepared. */
function decide(
  application: Application,
  before: BeforeCommand,
  command: Command,
  preparation: PromiseSettledResult<unknown>,
  lastOfSubject: RecordedEvent | undefined,
): Fate {
  const fate = decideAlone(application, before, command, preparation, lastOfSubject);
  if (fate.kind === "adds" || lastOfSubject === undefined) return fate;
  // It has read the records as they were before that event.
  return { kind: "waits" };
}

function decideAlone(
  application: Application,
  before: BeforeCommand,
  command: Command,
  preparation: PromiseSettledResult<unknown>,
  lastOfSubject: RecordedEvent | undefined,
): Fate {
  if (preparation.status === "rejected") return fateAfterFailure(preparation.reason);
  const prepared = preparation.value;
  try {
    const events = command.decide(before.head, prepared, lastOfSubject);
    if (events.length === 0) return { kind: "adds_nothing", prepared };
    return { kind: "adds", prepared, lines: linesAfter(application, before, events) };
  } catch (reason) {
    return { kind: "refused", reason };
  }
}

/** If the store has failed, nothing is known of the command. Its deadline bounds how often it is prepared again. */
function fateAfterFailure(reason: unknown): Fate {
  const hasStoreFailed = reason instanceof StoreError && !(reason instanceof StoreRefusedError);
  return hasStoreFailed ? { kind: "waits", storeError: reason } : { kind: "refused", reason };
}

/**
 * The lines of decided events, each with the hash of the line before it. Throws if the log or the store could not hold
 * one of them, so that only its command is refused.
 */
function linesAfter(
  application: Application,
  { head, lastEvents }: BeforeCommand,
  events: ReturnType<Command["decide"]>,
): PlannedLine[] {
  const lines: PlannedLine[] = [];
  let { position, lastHash: previousHash } = head;
  for (const decided of events) {
    expectRightClock(decided.time);
    position++;
    const event = expectStorable(application, { ...decided, position, previousHash });
    const subject = subjectOf(application, event);
    if (application.events[event.type].isFirst && lastEvents.has(subject)) {
      throw notFirstError(event.type, subject, lastEvents.get(subject)!.position);
    }
    const line = encodeUtf8Pooled(encodeEvent(application, event));
    expectShortLine(event, line);
    previousHash = sha256Hex(line);
    const records = projectOne(application, { event, line });
    for (const record of records) expectWritable(application, event.type, record);
    lines.push({ event, line, subject, hash: previousHash, records });
  }
  return lines;
}

/** The error about an event that would be the first one of a subject, although the subject has events. */
export function notFirstError(
  type: string,
  subject: string,
  position?: number,
): InvalidEventError {
  const has = position === undefined
    ? `${subject} has events already`
    : `${subject} has an event at position ${position}`;
  return new InvalidEventError(
    `${type} must be the first event of its subject, but ${has}: the command must name the subject and look at its last event`,
  );
}

function expectWritable(application: Application, type: string, record: ProjectionRecord): void {
  const { key, content } = record;
  if (!isProjectionKey(application, key)) {
    const fault = `which no kind of the application has: ${JSON.stringify(key)}`;
    throw new InvalidEventError(`${type} makes a record with a key ${fault}`);
  }
  const bytes = content?.length ?? 0;
  if (bytes <= RECORD_LIMIT_BYTES) return;
  const fault = `of ${bytes} bytes, but at most ${RECORD_LIMIT_BYTES} fit`;
  throw new InvalidEventError(`${type} makes a record ${fault}`);
}

/** Makes a batch of as many members as fit. Later commands wait, because they were decided on events that it leaves out. */
function sealMost(
  application: Application,
  limits: StoreLimits,
  base: HeadEntry,
  planned: readonly Planned[],
  members: readonly Member[],
  headAfterAll: Head,
): Omit<Plan, "base"> {
  const { sealed: batch, count, next: fit, fill } = sealCommit(
    members,
    (it) => {
      const isAll = it.length === members.length;
      return seal(application, base, it, isAll ? headAfterAll : headAfter(application, base, it));
    },
    limits,
  );
  if (fill > 1) {
    const [{ queued }] = members;
    return { planned: [{ queued, fate: { kind: "refused", reason: tooLargeError(batch) } }] };
  }
  const isCut = count < members.length;
  if (!isCut) return { batch, planned, isCut, fit };
  return { batch, planned: planned.slice(0, planned.indexOf(members[count])), isCut, fit };
}

/** The error about a command that does not fit into a commit, in the terms of its caller. */
function tooLargeError({ lines, records }: Batch): InvalidEventError {
  const { commitMutations, commitBytes } = STORE_LIMITS;
  const has = `has ${lines.length} events, which write or remove ${records.length} records`;
  const takes = `a commit takes about ${commitMutations} records and ${commitBytes} bytes`;
  return new InvalidEventError(`The command ${has}, but ${takes}: make several commands of it`);
}

function headAfter(application: Application, base: HeadEntry, members: readonly Member[]): Head {
  const next = draftOf(base.head);
  for (const { fate } of members) {
    for (const { event, hash } of fate.lines) addEvent(application, next, event, hash);
  }
  return next;
}

function seal(
  application: Application,
  base: HeadEntry,
  members: readonly Member[],
  next: Head,
): Batch {
  const { position, generation } = base.head;
  const lines = members.flatMap(({ fate }) => fate.lines);
  expectToFollow(base.head, lines);
  const logRecords = logMutations(position + 1, lines.map(({ line }) => line));
  const records = withoutReplaced(application, lines, lines.flatMap((it) => it.records));
  const mutations: Mutation[] = [
    ...logRecords,
    ...projectionMutations(generation, records),
    { type: "set", key: HEAD_KEY, value: encodeHead(application, next) },
  ];
  return { base, members, next, lines, records, firstLogRecord: logRecords[0], mutations };
}

/** Throws unless the lines of a commit follow a head without a gap. */
function expectToFollow({ position, lastHash }: Head, lines: readonly RecordedLine[]): void {
  const isGapless = lines.every(({ event }, index) => event.position === position + 1 + index);
  if (isGapless && lines[0].event.previousHash === lastHash) return;
  throw new Error(`A commit of ${lines.length} lines does not follow position ${position}`);
}
