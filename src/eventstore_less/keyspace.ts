/** The keys of the records of the engine. "The keyspace" in eventstore_less/internals.md shows and explains them. */

import { packLines } from "./encoding/pack_lines.ts";
import type { CompleteKind } from "./complete_collection.ts";
import type { KeyElement, ProjectionKey, ProjectionRecord } from "./definitions.ts";
import { withChecksum } from "./store/checksum.ts";
import type { Key, Mutation, SetMutation } from "./store/store.ts";

/** Maximum size of a log record of several lines, in bytes. Larger records do not make the tools faster. */
export const LOG_RECORD_LIMIT_BYTES = 8_192;

/** The key of the head of the log. */
export const HEAD_KEY = ["head"] as const;
export const REPLAY_KEY = ["replay"] as const;

/**
 * Every commit that adds a record has one of these as its guard, or its own turn request, last run, record of consumers
 * or unlogged record; the sweep only deletes. Every response begins with a read of the first one.
 */
export const GUARD_KEYS = [HEAD_KEY, REPLAY_KEY];

/** The prefix of the keys of the turn requests. Only the order of commits follows from them, so they may be lost. */
export const TURN_REQUESTS = ["turn_request"];

export function turnRequestKey(instance: string) {
  return [...TURN_REQUESTS, instance];
}

/** Whether a record is a turn request. It stays for a while if its instance ends. */
export function isTurnRequestKey(key: Key): boolean {
  return key.length === 2 && key[0] === TURN_REQUESTS[0] && typeof key[1] === "string";
}

const LAST_RUN = "last_run";
const RECORDED_TOOLS = ["audit", "backup"] as const;

/** The key of the record of the last run of a tool. Nothing follows from the record, so it may be lost. */
export function lastRunKey(tool: typeof RECORDED_TOOLS[number]) {
  return [LAST_RUN, tool];
}

/** Whether a record is that of the last run of a tool. */
export function isLastRunKey(key: Key): boolean {
  return key.length === 2 && key[0] === LAST_RUN && RECORDED_TOOLS.some((tool) => key[1] === tool);
}

const CONSUMERS = "consumers";

/** Maximum number of groups of consumers that a report has, and that a store without events may have. */
export const GROUPS_LIMIT = 100;

/** The key of the record of a group of consumers. */
export function consumersKey(group: string) {
  return [CONSUMERS, group];
}

/** The prefix of the keys of the records of all groups of consumers. */
export const CONSUMERS_PREFIX = [CONSUMERS];

/** Whether a record is that of a group of consumers. */
export function isConsumersKey(key: Key): boolean {
  return key.length === 2 && key[0] === CONSUMERS && typeof key[1] === "string";
}

const UNLOGGED = "unlogged";

/** The key of a record of the application outside of the log. Nothing follows from the record, so it may be lost. */
export function unloggedKey(kind: string, id: string) {
  return [UNLOGGED, kind, id];
}

/** Whether a record is one of the application outside of the log. */
export function isUnloggedKey(key: Key): boolean {
  const [first, ...name] = key;
  return first === UNLOGGED && name.length === 2 && name.every((it) => typeof it === "string");
}

/**
 * The tilde sorts the log after all other records, because SQLite finds these faster without large records between
 * them.
 */
export const LOG_PREFIX = ["~log"];

export function logKey(position: number): [string, number] {
  return [LOG_PREFIX[0], position];
}

export function isLogKey(key: Key): key is [string, number] {
  return key.length === 2 && key[0] === LOG_PREFIX[0] && Number.isSafeInteger(key[1]) &&
    key[1] as number >= 1;
}

/** The prefix of the keys of all generations. */
export const PROJECTIONS = ["projection"];

/** The key of a record in a generation of the projections. */
export function projectionKey(generation: number, key: ProjectionKey): (string | number)[] {
  return [...PROJECTIONS, generation, ...key];
}

/** The key of the record of an Idempotency-Key. Without a position, it is the prefix for all of its uses. */
export function idempotencyRecordKey(
  actor: string,
  idempotencyKey: string,
  ...position: number[]
) {
  return [IDEMPOTENCY_KIND, actor, idempotencyKey, ...position];
}

/** The kind of records of the engine itself. */
export const IDEMPOTENCY_KIND = "event_by_idempotency_key";

const OF_IDEMPOTENCY_KEY: CompleteKind = {
  key: ["text", "text", "number"],
  isNumbered: true,
  owner: () => "an Idempotency-Key",
};

/** The kinds of records of an application. */
interface Kinds {
  readonly kinds: ReadonlyMap<string, CompleteKind>;
}

/** The definition of a kind of records; `undefined` for an unknown kind. */
export function kindOf(application: Kinds, kind: unknown): CompleteKind | undefined {
  if (kind === IDEMPOTENCY_KIND) return OF_IDEMPOTENCY_KEY;
  return application.kinds.get(kind as string);
}

/** The prefix of the keys of all records of a kind in a generation. */
export function kindPrefix(generation: number, kind: string): (string | number)[] {
  return projectionKey(generation, [kind]);
}

/** Whether this can be the key of a record of a projection. The record may not exist. */
export function isProjectionKey(application: Kinds, key: Key): key is ProjectionKey {
  const [kind, ...elements] = key;
  const expected = kindOf(application, kind)?.key;
  return elements.length === expected?.length &&
    expected.every((element, index) => isKeyElement(element, elements[index]));
}

/** Whether a part of a key has the form of an element. */
export function isKeyElement(expected: KeyElement, element: unknown): boolean {
  if (expected === "text") return typeof element === "string";
  if (expected === "number") return Number.isSafeInteger(element) && element as number >= 1;
  return expected.includes(element as string);
}

/** How long an Idempotency-Key is valid, in milliseconds after the time of its event. */
export const IDEMPOTENCY_LIFETIME_MS = 24 * 60 * 60 * 1_000;

/** How long an expired record is kept, because clocks may differ. Its content decides whether it is valid. */
export const RETENTION_MARGIN_MS = 60 * 60 * 1_000;

/** Whether a record that expires at `expiresAt` may be removed at `time`. Both are in milliseconds since the Unix epoch. */
export function isOver(expiresAt: number, time: number): boolean {
  return expiresAt + RETENTION_MARGIN_MS <= time;
}

/** The records that are still kept at a time. The time must be one of `logTime()`, or earlier. */
export function retainedRecords(
  records: readonly ProjectionRecord[],
  time: number,
): ProjectionRecord[] {
  return records.filter(({ expiresAt = Infinity }) => !isOver(expiresAt, time));
}

/** The mutations that write and remove records of a generation. */
export function projectionMutations(
  generation: number,
  records: readonly ProjectionRecord[],
): Mutation[] {
  return records.map(({ key: recordKey, content }) => {
    const key = projectionKey(generation, recordKey);
    if (content === undefined) return { type: "delete", key };
    return { type: "set", key, value: withChecksum(key, content) };
  });
}

/** Returns the mutations that store lines at the positions from `first` on. */
export function logMutations(first: number, lines: readonly Uint8Array[]): SetMutation[] {
  let last = first - 1;
  return packLines(lines, LOG_RECORD_LIMIT_BYTES).map(({ count, value }) => {
    last += count;
    const key = logKey(last);
    return { type: "set", key, value: withChecksum(key, value) };
  });
}
