/** The checks of an append before an event gets its line, so that the line is read back as the same event. */

import { z } from "zod";
import type { Application, EventEntry } from "../application.ts";
import type { DecidedEvent } from "../definitions.ts";
import { INT64_MAX, INT64_MIN } from "../encoding/int64.ts";
import { Instant, SHA256_HEX, ULID } from "../encoding/text_forms.ts";
import { isMemberName } from "../encoding/value_preserving.ts";
import { ACTOR_FORM, isActor } from "../log/actor.ts";
import { LINE_LIMIT_BYTES } from "../log/lines.ts";
import { SUBJECT_ID, SUBJECT_ID_FORM } from "../log/subject_id.ts";

/** A command has decided an event that the log cannot hold, so nothing of the command is stored. */
export class InvalidEventError extends Error {
  /** The name of the class. */
  override name: string = this.constructor.name;
  /** The reason, for programs. */
  readonly code = "invalid_event" as const;
}

/** Longest name of a count in UTF-16 code units. */
const COUNT_NAME_MAX_LENGTH = 100;

/** How deep objects and lists can be nested: deeper than that of any schema, so a circle ends there. */
const DEPTH_LIMIT = 100;

const EVENT_ID = new RegExp(`^${ULID}$`);
const INSTANT = Instant._zod.def.pattern!;
const IDEMPOTENCY_KEY = new RegExp(`^${SHA256_HEX}$`);

/**
 * The event with its data as the line will be read: in the order of the schema, without members that are undefined. So
 * its records are the same now and in a replay. Throws {@linkcode InvalidEventError} if the line would be read as
 * another event, or not at all.
 */
export function expectStorable<Event extends DecidedEvent & { position: number }>(
  application: Application,
  event: Event,
): Event {
  const { events } = application;
  if (!Object.hasOwn(events, event.type)) {
    const types = `it defines ${Object.keys(events).join(", ")}`;
    throw new InvalidEventError(`${application.name} defines no type ${event.type}: ${types}`);
  }
  const definition = events[event.type];
  expectMetadata(event);
  const storable = { ...event, data: storableData(definition, event) };
  expectSubjectId(definition, storable);
  expectCounts(definition, storable);
  return storable;
}

function expectMetadata(event: DecidedEvent & { position: number }): void {
  const { id, time, actor, idempotencyKey, predecessor, position } = event;
  if (!EVENT_ID.test(id)) throw invalid(event, "id", "is not a ULID");
  if (!INSTANT.test(time)) {
    throw invalid(event, "time", "is not a UTC time such as 2026-01-31T12:00:00.000Z");
  }
  if (typeof actor !== "string" || !isActor(actor)) {
    throw invalid(event, "actor", `is not of ${ACTOR_FORM}`);
  }
  if (idempotencyKey !== undefined && !IDEMPOTENCY_KEY.test(idempotencyKey)) {
    throw invalid(event, "idempotencyKey", "is not a SHA-256 in lower-case hex");
  }
  if (predecessor === undefined) return;
  const isEarlier = Number.isSafeInteger(predecessor) && predecessor >= 1 &&
    predecessor < position;
  if (!isEarlier) throw invalid(event, "predecessor", "is not an earlier position");
}

/** The data as its schema reads it from the line. */
function storableData(
  { data: schema, memberNames: names }: EventEntry,
  event: DecidedEvent,
): object {
  const { data } = event;
  const parsed = z.safeParse(schema, readBack({ event, names, path: [] }, data, 0));
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => {
      return `${["data", ...path].join(".")}: ${message}`;
    });
    throw invalid(event, "data", `is refused by its schema: ${issues.join("; ")}`);
  }
  if (!isSame(data, parsed.data)) {
    throw invalid(event, "data", "would be changed by its schema");
  }
  return parsed.data;
}

/** What is read: the event, the names of members that its schema has, and the path to the value, one name for each depth. */
interface Reading {
  readonly event: DecidedEvent;
  readonly names: ReadonlySet<string>;
  readonly path: (string | number)[];
}

/**
 * A value as `parseExactJson()` gives it from its text in a line, without making the text, which would take twice as
 * long. `depth` is the length of the path to the value. Every append does this, so it makes no path unless it throws.
 */
function readBack(reading: Reading, value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "boolean":
      return value;
    case "string":
      if (value.isWellFormed()) return value;
      throw invalidValue(reading, depth, "has a lone surrogate");
    case "bigint":
      if (value >= INT64_MIN && value <= INT64_MAX) return value;
      throw invalidValue(reading, depth, "is beyond 64 bits");
    case "number":
      if (Number.isSafeInteger(value) && !Object.is(value, -0)) return BigInt(value);
      throw invalidValue(reading, depth, "is not an integer that a line holds exactly");
    case "object":
      if (value === null) return null;
      if (depth === DEPTH_LIMIT) {
        throw invalidValue(reading, depth, "is nested too deep, or in itself");
      }
      return Array.isArray(value)
        ? readBackList(reading, value, depth)
        : readBackObject(reading, value, depth);
    default:
      throw invalidValue(
        reading,
        depth,
        `is of the type ${typeof value}, which JSON does not have`,
      );
  }
}

function readBackList(reading: Reading, list: readonly unknown[], depth: number): unknown[] {
  // A hole is read as undefined, which is refused.
  return Array.from(list, (value, index) => {
    reading.path[depth] = index;
    return readBack(reading, value, depth + 1);
  });
}

function readBackObject(reading: Reading, object: object, depth: number): Members {
  const prototype = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) {
    const name = prototype.constructor?.name ?? "class";
    throw invalidValue(reading, depth, `is an object of ${name}, not a plain object or a list`);
  }
  const members = object as Members;
  const read: Members = {};
  for (const name in members) {
    const value = members[name];
    if (value === undefined) continue;
    if (!reading.names.has(name) && !isMemberName(name)) {
      const fault = `has a member ${name}, whose name JSON escapes or loses`;
      throw invalidValue(reading, depth, fault);
    }
    reading.path[depth] = name;
    read[name] = readBack(reading, value, depth + 1);
  }
  return read;
}

function invalidValue({ event, path }: Reading, depth: number, fault: string): InvalidEventError {
  return invalid(event, ["data", ...path.slice(0, depth)].join("."), fault);
}

type Members = Record<string, unknown>;

/** Whether data is the same as what was read, apart from the order of members, and from members that are undefined. */
function isSame(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) {
    return false;
  }
  if (Array.isArray(one)) return Array.isArray(other) && isSameList(one, other);
  return hasSameMembers(one as Members, other as Members);
}

function isSameList(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
}

function hasSameMembers(one: Members, other: Members): boolean {
  let missing = 0;
  for (const name in one) {
    if (one[name] === undefined) continue;
    if (!isSame(one[name], other[name])) return false;
    missing++;
  }
  for (const name in other) {
    if (other[name] !== undefined) missing--;
  }
  return missing === 0;
}

function expectSubjectId(definition: EventEntry, event: DecidedEvent & { position: number }): void {
  const id = definition.id(event.data);
  if (typeof id === "number") {
    if (Number.isSafeInteger(id) && id >= 1 && id <= event.position) return;
    const advice = "as a number it counts the subjects from 1 on; let id() return a text";
    throw invalid(event, "subject's id", `is not from 1 to its position: ${advice}`);
  }
  if (typeof id !== "string" || !SUBJECT_ID.test(id)) {
    throw invalid(event, "subject's id", `is not of ${SUBJECT_ID_FORM}`);
  }
  if (!definition.isId(id)) {
    throw invalid(event, "subject's id", `is none by isId() of ${definition.collection}`);
  }
}

function expectCounts({ tally }: EventEntry, event: DecidedEvent): void {
  if (tally === undefined) return;
  for (const change of tally(event.data)) {
    if (!isCountName(change[0])) throw invalid(event, "tally", "is no name of a count");
    if (!Number.isSafeInteger(change[1])) {
      throw invalid(event, "tally", "is no change of a count");
    }
  }
}

function isCountName(name: unknown): boolean {
  return typeof name === "string" && name !== "" && name.length <= COUNT_NAME_MAX_LENGTH &&
    name.isWellFormed() && !(name in Object.prototype);
}

/** Throws if the line of the event is longer than a line can be. */
export function expectShortLine(event: DecidedEvent, line: Uint8Array): void {
  if (line.length <= LINE_LIMIT_BYTES) return;
  throw invalid(event, "line", `has ${line.length} bytes, but at most ${LINE_LIMIT_BYTES} fit`);
}

/** An error about a part of an event. It does not show the data, which can be personal. */
function invalid({ type }: DecidedEvent, part: string, fault: string): InvalidEventError {
  return new InvalidEventError(`${type} cannot be stored: its ${part} ${fault}`);
}
