/** The commands of an {@linkcode EventStore}, and what the engine adds to them: ids, predecessors, and that each counts once. */

import type { Application } from "./application.ts";
import type { Command, ReadNotes } from "./append/command.ts";
import { notFirstError } from "./append/batch.ts";
import { InvalidEventError } from "./append/storable_data.ts";
import type { Body, DecidedEvent, Head, ProjectionKey, Recorded } from "./definitions.ts";
import { findEarlierEvents } from "./idempotency/earlier_events.ts";
import { type Idempotency, idempotencyHash } from "./idempotency/idempotency_hash.ts";
import { projectionKey } from "./keyspace.ts";
import { OPERATOR } from "./log/actor.ts";
import type { HeadEntry } from "./log/head.ts";
import { subjectOf } from "./log/event.ts";
import { keysOfSubject, readLastEvent } from "./projections/last_event.ts";
import {
  expectRecordKey,
  listRequestOf,
  type RecordList,
  recordListOf,
  type RecordListOptions,
  storeOptionsOf,
  valueOf,
} from "./record_reader.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { Store } from "./store/store.ts";

/**
 * A request to append events: all of them or none, exactly once, decided on the state that the commit replaces. `Prepared`
 * is what it reads before it decides.
 */
export interface EventCommand<Prepared, EventBody extends Body> {
  /**
   * The subject that the command changes, for example `bookings/7`. decide() gets its last event. An event that is not
   * always the first one of a subject needs it.
   */
  subject?: string;
  /** If set, the command has its effect once, however often it is repeated. */
  idempotency?: Idempotency;
  /**
   * Who gives the command, a text of the events; by default {@linkcode OPERATOR}. A function finds it as of the head, and
   * rejects if the command is refused, so that a right that was withdrawn is never used.
   */
  actor?: string | ((snapshot: CommandSnapshot) => string | Promise<string>);
  /** Each owner has its share of the queue and of each commit; by default, all commands have one. */
  owner?: string;
  /**
   * A commit has at most one command of a group, so the next one is prepared once, after it. Without a group, commands
   * that read what others of the same commit write are prepared again, which is as safe.
   */
  group?: string;
  /**
   * Commands of an owner that have the same sequence are decided and stored in the order in which they were given, in one
   * commit if they fit. Commands without a sequence can pass one whose reads take long.
   */
  sequence?: symbol;
  /** Set if the events change what every command reads, also past its snapshot, such as rights. The next commit follows. */
  endsCommit?: true;
  /**
   * Reads what decide() needs besides the last event of the subject. It may run again: if another commit writes a record
   * that it has read, or adds one to a list that it has read.
   */
  prepare?(snapshot: CommandSnapshot): Promise<Prepared> | Prepared;
  /**
   * The events; none if nothing changes. Throws if the command is refused: append() then rejects with that error. It may
   * run again, on another head, so it must depend on nothing but its arguments.
   */
  decide(
    head: Head,
    context: DecisionContext<Prepared, EventBody>,
  ): readonly NewEvent<EventBody>[];
}

/** The reads of a command before it decides. */
export interface CommandSnapshot {
  /** The head as of which it reads. decide() may get a later one, after commits that wrote nothing that was read. */
  readonly head: Head;
  /** The time that the events will have, UTC with milliseconds. */
  readonly time: string;
  /** The content of a record; `undefined` without one. Rejects as {@linkcode EventStore.read}. */
  readonly read: (key: ProjectionKey) => Promise<unknown>;
  /** The records of a kind. Rejects as {@linkcode EventStore.list}. */
  readonly list: (kind: string, options?: RecordListOptions) => Promise<RecordList>;
}

/** What a command decides on, besides the head. */
export interface DecisionContext<Prepared, EventBody extends Body> {
  /**
   * The last event of the subject, proven by its line; `undefined` if the subject has no events. If `keysOf()` of its
   * collection names no record, only an event that came after the preparation.
   */
  last: Recorded<EventBody> | undefined;
  /** The result of prepare(). */
  prepared: Prepared;
  /** The time of the events, UTC with milliseconds. */
  time: string;
  /** Who gives the command, as the events will say. */
  actor: string;
}

/** An event that a command has decided. */
export type NewEvent<EventBody extends Body> = EventBody & {
  /** A ULID; by default a new one. */
  id?: string;
  /**
   * Only if the command has read the subject of the event by itself: the position of its last event, or `undefined` if it
   * has none.
   */
  predecessor?: number;
};

/** What a command has read. */
export interface PreparedCommand<Prepared, EventBody extends Body> {
  actor: string;
  /** The events of the first command with its Idempotency-Key; then nothing is decided. */
  earlier: readonly Recorded<EventBody>[];
  last?: Recorded<EventBody>;
  /** Absent if there are earlier events. */
  prepared?: Prepared;
}

export interface EventCommandDeps<EventBody extends Body> {
  application: Application<EventBody>;
  runtime: Runtime;
  store: Store;
}

/** The command for the Appender. Throws `TypeError` if its subject begins with no collection. */
export function commandOf<Prepared, EventBody extends Body>(
  deps: EventCommandDeps<EventBody>,
  command: EventCommand<Prepared, EventBody>,
): Command<PreparedCommand<Prepared, EventBody>, EventBody> {
  const { application, runtime } = deps;
  const { owner, subject, group, sequence, endsCommit } = command;
  const timeMs = runtime.now();
  const time = new Date(timeMs).toISOString();
  // Drawn once, because decide() may run again: a commit that is sent again has the same bytes.
  const ids = [runtime.newId()];
  const idempotencyKey = command.idempotency && idempotencyHash(command.idempotency);
  const inputs: Inputs = {
    time,
    timeMs,
    idempotencyKey,
    subjectKeys: subject === undefined ? [] : keysOfSubject(application, subject),
  };
  return {
    owner,
    subject,
    group,
    sequence,
    endsCommit,
    idempotencyKey,
    prepare: (base, notes) => prepareCommand(deps, command, inputs, base, notes),
    decide(head, { actor, earlier, last: read, prepared }, followed) {
      if (earlier.length > 0) return [];
      const last = followed ?? read;
      const context = { last, prepared: prepared as Prepared, time, actor };
      const decided = command.decide(head, context);
      const links = linksOf(application, head, decided, subject, last?.position);
      return decided.map((body, index) => {
        const id = body.id ?? (ids[index] ??= runtime.newId());
        const event: DecidedEvent = { ...body, id, time, actor };
        if (links[index] !== undefined) event.predecessor = links[index];
        if (idempotencyKey !== undefined) event.idempotencyKey = idempotencyKey;
        return event as DecidedEvent<EventBody>;
      });
    },
  };
}

interface Inputs {
  time: string;
  timeMs: number;
  idempotencyKey: string | undefined;
  subjectKeys: readonly ProjectionKey[];
}

/** If an event of this Idempotency-Key is stored after the look-up, the head moves, so the commit fails. */
async function prepareCommand<Prepared, EventBody extends Body>(
  { application, store }: EventCommandDeps<EventBody>,
  command: EventCommand<Prepared, EventBody>,
  { time, timeMs, idempotencyKey, subjectKeys }: Inputs,
  { head }: HeadEntry,
  notes: ReadNotes,
): Promise<PreparedCommand<Prepared, EventBody>> {
  const snapshot = snapshotOf(application, store, head, time, notes);
  const { actor: named = OPERATOR } = command;
  const actor = typeof named === "string" ? named : await named(snapshot);
  const read = async () => {
    const last = subjectKeys.length === 0
      ? undefined
      : await readLastEvent(application, store, head, subjectKeys);
    const prepared = await command.prepare?.(snapshot);
    return { actor, earlier: [], last, prepared };
  };
  if (idempotencyKey === undefined) return await read();
  // 1. What it decides on is read first: if it shows that this very command has landed, the look-up finds the events.
  const [outcome] = await Promise.allSettled([read()]);
  // 2. Earlier events are the outcome, even if the rest cannot be read now. The age is measured at the time of the
  // command, so two uses of one Idempotency-Key are a day apart.
  const use = { actor, idempotencyKey, timeMs };
  const earlier = await findEarlierEvents(application, store, head, use);
  if (earlier.length > 0) return { actor, earlier };
  // 3. Only a command without earlier events fails because of what it reads.
  if (outcome.status === "rejected") throw outcome.reason;
  return outcome.value;
}

/** Reads records as of a head, and notes what it reads. */
function snapshotOf(
  application: Application,
  store: Store,
  head: Head,
  time: string,
  notes: ReadNotes,
): CommandSnapshot {
  const { generation } = head;
  return {
    head,
    time,
    async read(key) {
      expectRecordKey(application, key);
      notes.noteRead(key);
      return valueOf(application, await store.get(projectionKey(generation, key)));
    },
    async list(kind, options = {}) {
      const request = listRequestOf(application, kind, options);
      notes.noteList(request.prefix);
      const start = projectionKey(generation, request.range.start);
      const end = projectionKey(generation, request.range.end);
      const entries = await store.list({ start, end }, storeOptionsOf(request));
      return recordListOf(application, request, entries);
    },
  };
}

/**
 * The predecessor of each event that a command has decided on a head; `undefined` for the first event of a subject. Throws
 * {@linkcode InvalidEventError} if the log would not be sound. `last` is the position of the last event of the command's subject.
 */
function linksOf<EventBody extends Body>(
  application: Application<EventBody>,
  head: Head,
  decided: readonly NewEvent<EventBody>[],
  subject: string | undefined,
  last: number | undefined,
): (number | undefined)[] {
  const known = new Map<string, number | undefined>();
  if (subject !== undefined) known.set(subject, last);
  return decided.map((body, index) => {
    const isKnown = Object.hasOwn(application.events, body.type);
    // The log refuses the event.
    if (!isKnown || typeof body.data !== "object" || body.data === null) return undefined;
    const position = head.position + 1 + index;
    const changed = subjectOf(application, body);
    const predecessor = linkOf(application, body, changed, known);
    known.set(changed, position);
    return predecessor;
  });
}

/** The predecessor of an event. `known` has the positions of the last events of subjects. */
function linkOf<EventBody extends Body>(
  application: Application<EventBody>,
  body: NewEvent<EventBody>,
  subject: string,
  known: ReadonlyMap<string, number | undefined>,
): number | undefined {
  const { type } = body;
  const before = known.get(subject);
  if (application.events[type].isFirst) {
    if (before !== undefined) throw notFirstError(type, subject, before);
    return undefined;
  }
  if (!Object.hasOwn(body, "predecessor")) {
    if (known.has(subject)) return before;
    const advice = `a command with ${type} of ${subject} must name this subject`;
    throw new InvalidEventError(`The event may follow others, so ${advice}`);
  }
  const { predecessor } = body;
  if (before === undefined || predecessor === before) return predecessor;
  const fault = `is not ${before}, the position of the last event of ${subject}`;
  throw new InvalidEventError(`The predecessor ${predecessor} of ${type} ${fault}`);
}
