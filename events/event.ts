/**
 * The events of the log, and their encoding as lines of text. A line is a CloudEvents 1.0 object in JSON
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md).
 * The order of its members is fixed, and it contains no optional white space.
 * So an event has exactly one encoding.
 */

import { z } from "zod";
import { assertNever } from "./assert_never.ts";
import { Instant, KeyIssuedData, KeyRevokedData, SHA256_HEX, ULID } from "./api_key.ts";
import { parseExactJson } from "./int64.ts";
import { decodePet, encodePet, Pet } from "./pet.ts";

/** `previoushash` of the first line. */
export const GENESIS_HASH = "0".repeat(64);

/** The `actor` of an event that was not caused by an API key. */
export const OPERATOR = "operator";

const SOURCE = "urn:animal-store";
const SEQUENCE_DIGITS = 16;

/** The type and data of an event, decided by a command. The log adds the position. */
export type EventBody =
  | { type: "PetCreated"; data: Pet }
  | { type: "ApiKeyIssued"; data: KeyIssuedData }
  | { type: "ApiKeyRevoked"; data: KeyRevokedData };

/** The other members of an event that are known before its position in the log. */
export interface EventMetadata {
  /** ULID. It stays the same if the append is retried. */
  id: string;
  /** Time of the event, UTC with milliseconds. */
  time: string;
  /** Id of the API key that caused it, or {@linkcode OPERATOR}. */
  actor: string;
  /** SHA-256 (hex) of the client's `Idempotency-Key`, if it sent one. */
  idempotencyKey?: string;
}

/** An event in the log. `position` is 1, 2, 3 …; `previousHash` is the SHA-256 (hex) of the line before. */
export type RecordedEvent = EventBody & EventMetadata & { position: number; previousHash: string };

export type EventType = EventBody["type"];

/** An event and its line in UTF-8, without the line break. */
export interface RecordedLine {
  event: RecordedEvent;
  line: Uint8Array;
}

interface TypeEntry {
  /** The name of the schema, without the version. */
  schema: string;
  data: z.ZodObject;
  /** The members that a version after the first has added, by version. An event has the lowest version possible. */
  added: Record<number, string>;
}

/** The schema of each type. */
const TYPES: Record<EventType, TypeEntry> = {
  PetCreated: { schema: "urn:animal-store:pet-created", data: Pet, added: {} },
  ApiKeyIssued: {
    schema: "urn:animal-store:api-key-issued",
    data: KeyIssuedData,
    added: { 2: "readOnly" },
  },
  ApiKeyRevoked: { schema: "urn:animal-store:api-key-revoked", data: KeyRevokedData, added: {} },
};

/** The names of the schema versions of each type, from version 1 on. */
const DATASCHEMAS = Object.fromEntries(
  Object.entries(TYPES).map(([type, { schema, added }]) => {
    return [type, [1, ...Object.keys(added)].map((version) => `${schema}:${version}`)];
  }),
) as Record<EventType, string[]>;

/** The names of the members of each type's data. */
const MEMBERS = Object.fromEntries(
  Object.entries(TYPES).map(([type, { data }]) => [type, Object.keys(data.shape)]),
) as Record<EventType, string[]>;

export const EVENT_TYPES = Object.keys(TYPES) as EventType[];

/** The line of an event, without the line break. */
export function encodeEvent(event: RecordedEvent): string {
  const idempotencyKey = event.idempotencyKey === undefined
    ? ""
    : `,"idempotencykey":"${event.idempotencyKey}"`;
  return `{"specversion":"1.0","id":"${event.id}","source":"${SOURCE}","type":"${event.type}",` +
    `"time":"${event.time}","sequence":"${encodeSequence(event.position)}",` +
    `"subject":"${subjectOf(event)}","dataschema":"${dataschemaOf(event)}",` +
    `"actor":"${event.actor}"${idempotencyKey},"previoushash":"${event.previousHash}",` +
    `"data":${encodeData(event)}}`;
}

const OPENING_BRACE = 0x7b;

/** The bytes of the `data` of a line that {@linkcode encodeEvent} has written. They share its memory. */
export function dataOf(line: Uint8Array): Uint8Array {
  // None of the members before `data` contains a brace.
  return line.subarray(line.indexOf(OPENING_BRACE, 1), line.length - 1);
}

/** Length of `","data":`, which separates the previous hash from the data. */
const BEFORE_DATA = 9;

/** Whether a line that {@linkcode encodeEvent} has written has that `previoushash`. Its event is not decoded. */
export function followsHash(line: Uint8Array, hash: string): boolean {
  const start = line.indexOf(OPENING_BRACE, 1) - BEFORE_DATA - hash.length;
  for (let index = 0; index < hash.length; index++) {
    if (line[start + index] !== hash.charCodeAt(index)) return false;
  }
  return true;
}

/**
 * Decodes the event of a line. Throws `NewerVersionError` if its type or schema version is not known, and
 * otherwise `MalformedEventError` if {@linkcode encodeEvent} could not have written the line.
 */
export function decodeEvent(line: string): RecordedEvent {
  const match = LINE.exec(line);
  if (match === null) throw malformed(line);
  const [, id, type, time, sequence, subject, dataschema, actor, idempotencyKey, ...rest] = match;
  const [previousHash, dataText] = rest;
  if (!isKnown(type, dataschema)) {
    if (!mayBeNewer(type, dataschema)) {
      throw new MalformedEventError(`Schema ${dataschema} of event type ${type} is not known`);
    }
    const what = Object.hasOwn(TYPES, type) ? `schema ${dataschema}` : `event type ${type}`;
    throw new NewerVersionError(what, { position: Number(sequence), previousHash });
  }
  const body = decodeBody(type, dataText, line);
  if (dataschemaOf(body) !== dataschema) throw malformed(line);
  if (!Instant.safeParse(time).success || subjectOf(body) !== subject) throw malformed(line);
  return {
    ...body,
    id,
    time,
    actor,
    position: Number(sequence),
    previousHash,
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}

/** A line is not an event of this log. The message is a single line. */
export class MalformedEventError extends Error {
  constructor(message: string) {
    super(message.replace(/\s*\n\s*/g, " "));
    this.name = "MalformedEventError";
  }
}

/** A newer version of the program wrote the line, so its data cannot be decoded. */
export class NewerVersionError extends MalformedEventError {
  readonly position: number;
  readonly previousHash: string;

  constructor(
    what: string,
    { position, previousHash }: { position: number; previousHash: string },
  ) {
    super(`A newer version wrote the line: ${what} is not known`);
    this.name = "NewerVersionError";
    this.position = position;
    this.previousHash = previousHash;
  }
}

function isKnown(type: string, dataschema: string): type is EventType {
  return Object.hasOwn(TYPES, type) && DATASCHEMAS[type as EventType].includes(dataschema);
}

const SCHEMA_NAME = /^(urn:animal-store:[a-z]+(?:-[a-z]+)*):[1-9]\d*$/;

/** Whether another version could have written a line of that type and schema. A version is never taken back. */
function mayBeNewer(type: string, dataschema: string): boolean {
  const schema = SCHEMA_NAME.exec(dataschema)?.[1];
  const isOfKnownType = Object.values(TYPES).some((entry) => entry.schema === schema);
  if (Object.hasOwn(TYPES, type)) return TYPES[type as EventType].schema === schema;
  return schema !== undefined && !isOfKnownType && /^(?:[A-Z][a-z]*)+$/.test(type);
}

function encodeSequence(position: number): string {
  return String(position).padStart(SEQUENCE_DIGITS, "0");
}

/**
 * Matches a line as {@linkcode encodeEvent} writes it. The type, its schema, the time, the subject and the
 * data need further checks; all other members are fully checked. A pattern, not a schema, because the log is
 * long.
 */
const LINE = new RegExp(
  `^{"specversion":"1\\.0","id":"(${ULID})","source":"${SOURCE}","type":"([^"]*)",` +
    `"time":"([^"]*)","sequence":"(\\d{${SEQUENCE_DIGITS}})","subject":"([^"]*)",` +
    `"dataschema":"([^"]*)","actor":"(${ULID}|${OPERATOR})"(?:,"idempotencykey":"(${SHA256_HEX})")?,` +
    `"previoushash":"(${SHA256_HEX})","data":({.*})}$`,
  "s",
);

function decodeBody(type: EventType, text: string, line: string): EventBody {
  const pet = type === "PetCreated" ? decodePet(text) : undefined;
  if (pet !== undefined) return { type: "PetCreated", data: pet };
  const { data, error } = TYPES[type].data.safeParse(parseData(text, line));
  if (error !== undefined) throw new MalformedEventError(z.prettifyError(error));
  const body = { type, data } as EventBody;
  if (encodeData(body) !== text) throw malformed(line);
  return body;
}

function parseData(text: string, line: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    throw malformed(line);
  }
}

function malformed(line: string): MalformedEventError {
  try {
    JSON.parse(line);
  } catch (error) {
    return new MalformedEventError(`The line is not JSON: ${(error as Error).message}`);
  }
  return new MalformedEventError(
    "The line differs from the bytes that the service writes, for example in spaces or line ends",
  );
}

/** The CloudEvents `subject` of the event. */
export function subjectOf(body: EventBody): string {
  switch (body.type) {
    case "PetCreated":
      return `pets/${body.data.id}`;
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      return `keys/${body.data.keyId}`;
    default:
      return assertNever(body);
  }
}

/** The name of the schema of the event's data: that of the lowest version that has all its members. */
function dataschemaOf({ type, data }: EventBody): string {
  const names = DATASCHEMAS[type];
  if (names.length === 1) return names[0];
  const members = data as Record<string, unknown>;
  const newest = Object.values(TYPES[type].added)
    .findLastIndex((member) => members[member] !== undefined);
  return names[newest + 1];
}

/** The members of the data are in the order of the schema. */
function encodeData({ type, data }: EventBody): string {
  return type === "PetCreated" ? encodePet(data) : JSON.stringify(data, MEMBERS[type]);
}
