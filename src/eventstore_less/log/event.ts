/**
 * The events of the log, and their only encoding as lines of text: CloudEvents 1.0 in JSON
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md), with its members in one order.
 */

import { Buffer } from "node:buffer";
import { z } from "zod";
import { assertNever } from "../../encoding/assert_never.ts";
import { KeyIssuedData, KeyRevokedData } from "../../../events/api_key.ts";
import { parseExactJson } from "../../encoding/int64.ts";
import {
  encodePatch,
  encodePet,
  fieldsByCheck,
  PATCH_CHECK,
  Pet,
  PET_CHECK,
  PET_RELEASES,
  PetPatch,
  releasesOf,
} from "../../../events/pet.ts";
import { keySubject, petSubject } from "../../../events/subject.ts";
import { Instant, SHA256_HEX, Sha256Hex, ULID } from "../../encoding/text_forms.ts";

/** `previoushash` of the first line. */
export const GENESIS_HASH = "0".repeat(64);

/** The `actor` of an event that was not caused by an API key. */
export const OPERATOR = "operator";

export const EVENT_SOURCE = "urn:animal-store";
const SEQUENCE_DIGITS = 16;

const decoder = new TextDecoder();
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/** The pet after a change, and the patch that leads back to the pet before it. */
const PetUpdatedData = Pet.extend({
  previous: PetPatch.refine((patch) => Object.keys(patch).length > 0, "must name what changed"),
});
type PetUpdatedData = z.infer<typeof PetUpdatedData>;

/** The type and data of an event, decided by a command. The log adds the position. */
export type EventBody =
  | { type: "PetCreated"; data: Pet }
  | { type: "PetUpdated"; data: PetUpdatedData }
  | { type: "PetRemoved"; data: Pet }
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
  /** Position of the last event of the same subject; absent on its first event, and in lines before format 6. */
  predecessor?: number;
  /** HMAC-SHA-256 (hex) of the `Idempotency-Key` under the API key; before format 4, its SHA-256. */
  idempotencyKey?: string;
}

/** An event in the log. `position` is 1, 2, 3 …; `previousHash` is the SHA-256 (hex) of the line before. */
export type RecordedEvent = EventBody & EventMetadata & { position: number; previousHash: string };

export type EventType = EventBody["type"];

/** An event that says how a pet is from then on, or was before it was removed. */
export type PetEvent = Extract<RecordedEvent, { data: Pet }>;

export const PET_EVENT_TYPES = ["PetCreated", "PetUpdated", "PetRemoved"] as const;

export function isPetEvent(event: RecordedEvent): event is PetEvent {
  return (PET_EVENT_TYPES as readonly string[]).includes(event.type);
}

/** An event and its line in UTF-8, without the line break. */
export interface RecordedLine {
  event: RecordedEvent;
  line: Uint8Array;
}

interface TypeOfEvent {
  /** The name of the schema, without the version. */
  schema: string;
  data: z.ZodObject;
  /** The versions of the schema, in order. Since format 6, a version is named after the release that added it. */
  versions: readonly string[];
}

const TYPES: Record<EventType, TypeOfEvent> = {
  PetCreated: typeOf("PetCreated", Pet, PET_RELEASES),
  PetUpdated: typeOf("PetUpdated", PetUpdatedData, PET_RELEASES),
  PetRemoved: typeOf("PetRemoved", Pet, PET_RELEASES),
  ApiKeyIssued: typeOf("ApiKeyIssued", KeyIssuedData, ["2"]),
  ApiKeyRevoked: typeOf("ApiKeyRevoked", KeyRevokedData, []),
};

function typeOf(type: EventType, data: z.ZodObject, added: readonly string[]): TypeOfEvent {
  const versions = ["1", ...added].sort(compareVersions);
  return { schema: schemaOf(type), data, versions };
}

function compareVersions(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

export const EVENT_TYPES = Object.keys(TYPES) as EventType[];

/** The line of an event, without the line break. */
export function encodeEvent(event: RecordedEvent): string {
  const { id, actor, idempotencyKey: key, previousHash, predecessor: before } = event;
  const predecessor = before === undefined ? "" : `"predecessor":"${sequenceOf(before)}",`;
  const idempotencyKey = key === undefined ? "" : `,"idempotencykey":"${key}"`;
  return `${attributesOf(event, id, predecessor)},"actor":"${actor}"${idempotencyKey},` +
    `"previoushash":"${previousHash}${HASH_TO_DATA}${encodeData(event)}}`;
}

/** The text of an event for clients: a CloudEvent with another id, and without what concerns only the log. */
export function encodePublicEvent({ event, line }: RecordedLine, id: string): string {
  return `${attributesOf(event, id)},"datacontenttype":"application/json",` +
    `"data":${decoder.decode(dataOf(line))}}`;
}

/** The members that the line of an event and its text for clients begin with. Only the line has `predecessor`. */
function attributesOf(event: RecordedEvent, id: string, predecessor = ""): string {
  return `{"specversion":"1.0","id":"${id}","source":"${EVENT_SOURCE}","type":"${event.type}",` +
    `"time":"${event.time}","sequence":"${sequenceOf(event.position)}",${predecessor}` +
    `"subject":"${subjectOf(event)}","dataschema":"${dataschemaOf(event)}"`;
}

/** A position in fixed width, so that positions sort as texts. */
export function sequenceOf(position: number): string {
  return String(position).padStart(SEQUENCE_DIGITS, "0");
}

/** The bytes of the `data` of a line that {@linkcode encodeEvent} has written. They share its memory. */
export function dataOf(line: Uint8Array): Uint8Array {
  // None of the members before `data` contains a brace.
  return line.subarray(line.indexOf(OPENING_BRACE, 1), line.length - 1);
}

/** The text of the pet after an event of a pet, or of the removed one, in UTF-8. */
export function petTextOf({ event, line }: RecordedLine): Uint8Array {
  const data = dataOf(line);
  if (!("previous" in event.data)) return data;
  // A text value contains no bare quotation mark, so the first match is the member.
  const end = Buffer.from(data.buffer, data.byteOffset, data.length).indexOf(',"previous":{');
  const text = data.slice(0, end + 1);
  text[end] = CLOSING_BRACE;
  return text;
}

/** The pet after an event of it; `undefined` if the event removed the pet. */
export function petAfter(event: PetEvent): Pet | undefined {
  switch (event.type) {
    case "PetCreated":
      return event.data;
    case "PetUpdated": {
      const { previous: _, ...pet } = event.data;
      return pet;
    }
    case "PetRemoved":
      return undefined;
    default:
      return assertNever(event);
  }
}

/** The characters of a line between its `previoushash` and its data. */
const HASH_TO_DATA = '","data":';

/** Whether a line that {@linkcode encodeEvent} has written has that `previoushash`. Its event is not decoded. */
export function followsHash(line: Uint8Array, hash: string): boolean {
  const end = line.indexOf(OPENING_BRACE, 1) - HASH_TO_DATA.length;
  return decoder.decode(line.subarray(end - hash.length, end)) === hash;
}

/** Throws `NewerVersionError` at an unknown type or version, `MalformedEventError` at what encodeEvent() cannot write. */
export function decodeEvent(line: string): RecordedEvent {
  const match = LINE.exec(line);
  if (match === null) throw newerVersionErrorOf(line) ?? malformed(line);
  // In the order of the groups of the pattern. With names for the groups, decoding takes 8 % longer.
  const [
    ,
    id,
    type,
    time,
    sequence,
    before,
    subject,
    schema,
    version,
    actor,
    idempotencyKey,
    previousHash,
    data,
  ] = match;
  const position = Number(sequence);
  if (schema !== schemaOf(type)) throw malformed(line);
  if (!isKnownSchema(type, version)) {
    throw new NewerVersionError(schema, version, position, previousHash);
  }
  const body = { type, data: decodeData(TYPES[type as EventType].data, data, line) } as EventBody;
  const predecessor = before === undefined ? undefined : Number(before);
  const isBodyExact = encodeData(body) === data && subjectOf(body) === subject &&
    schemaVersionOf(body) === version;
  const isTimeExact = Instant.safeParse(time).success;
  const isPredecessorEarlier = predecessor === undefined ||
    (predecessor >= 1 && predecessor < position);
  if (!isBodyExact || !isTimeExact || !isPredecessorEarlier) throw malformed(line);
  const event: RecordedEvent = { ...body, id, time, actor, position, previousHash };
  if (predecessor !== undefined) event.predecessor = predecessor;
  if (idempotencyKey !== undefined) event.idempotencyKey = idempotencyKey;
  return event;
}

/** The error about a line of another form, if the version of its schema says that a newer version wrote it. */
function newerVersionErrorOf(line: string): NewerVersionError | undefined {
  const parsed = NewerLine.safeParse(tryParseJson(line));
  if (!parsed.success) return undefined;
  const { type, sequence, dataschema, previoushash } = parsed.data;
  const [, schema, version] = /^(.*):([^:]*)$/.exec(dataschema)!;
  if (schema !== schemaOf(type) || isKnownSchema(type, version)) return undefined;
  return new NewerVersionError(schema, version, Number(sequence), previoushash);
}

function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A line is not an event of this log. The message is a single line. */
export class MalformedEventError extends Error {
  override name = this.constructor.name;

  constructor(message: string) {
    super(message.split("\n").map((line) => line.trim()).join(" "));
  }
}

/** The version of the schema is the name of the release that added it, so the message can name that release. */
export class NewerVersionError extends MalformedEventError {
  readonly position: number;
  readonly previousHash: string;

  constructor(schema: string, version: string, position: number, previousHash: string) {
    super(
      `A newer version wrote the line: its schema ${schema}:${version} needs version ${version}`,
    );
    this.position = position;
    this.previousHash = previousHash;
  }
}

/** The version of a schema: 1 or 2, or since format 6 a release such as 6.1. */
const VERSION = "[1-9]\\d*(?:\\.\\d+)*";

/** The members that each version has in its lines, and that tell which version wrote one. */
const NewerLine = z.object({
  source: z.literal(EVENT_SOURCE),
  type: z.string(),
  sequence: z.string().regex(new RegExp(`^\\d{${SEQUENCE_DIGITS}}$`)),
  dataschema: z.string().regex(new RegExp(`:${VERSION}$`)),
  previoushash: Sha256Hex,
});

/** Matches a line as {@linkcode encodeEvent} writes it. A pattern, not a schema, because the log is long. */
const LINE = new RegExp(
  `^{"specversion":"1\\.0","id":"(${ULID})","source":"${EVENT_SOURCE}",` +
    `"type":"((?:[A-Z][a-z]*)+)","time":"([^"]*)","sequence":"(\\d{${SEQUENCE_DIGITS}})"` +
    `(?:,"predecessor":"(\\d{${SEQUENCE_DIGITS}})")?,"subject":"([^"]*)",` +
    `"dataschema":"([^"]*):(${VERSION})","actor":"(${ULID}|${OPERATOR})"` +
    `(?:,"idempotencykey":"(${SHA256_HEX})")?,` +
    `"previoushash":"(${SHA256_HEX})","data":({.*})}$`,
  "s",
);

function decodeData(schema: z.ZodObject, text: string, line: string): unknown {
  let parsed: unknown;
  try {
    const checked = checkedDataOf(schema, JSON.parse(text));
    if (checked !== undefined) return checked;
    parsed = parseExactJson(text);
  } catch {
    throw malformed(line);
  }
  const { data, error } = schema.safeParse(parsed);
  if (error !== undefined) throw new MalformedEventError(z.prettifyError(error));
  return data;
}

/** The data of a pet without the schema, if that is not needed. A rounded number makes another text, which is refused. */
function checkedDataOf(schema: z.ZodObject, parsed: Record<string, unknown>) {
  if (schema === Pet) return fieldsByCheck(parsed, PET_CHECK);
  if (schema === PetUpdatedData) return checkedChangeOf(parsed);
  return undefined;
}

function checkedChangeOf({ previous, ...after }: Record<string, unknown>) {
  const pet = fieldsByCheck(after, PET_CHECK);
  const patch = fieldsByCheck(previous as Record<string, unknown>, PATCH_CHECK);
  if (pet === undefined || patch === undefined) return undefined;
  const namesChange = Object.keys(patch).length > 0;
  return namesChange ? { ...pet, previous: patch } : undefined;
}

function malformed(line: string): MalformedEventError {
  try {
    JSON.parse(line);
  } catch (error) {
    const { message } = error as Error;
    const atEnd = new RegExp(`^Unterminated|^Unexpected end| at position ${line.length}\\b`);
    const isCut = line !== "" && atEnd.test(message);
    const fault = isCut ? "incomplete: its end is missing" : `not JSON: ${message}`;
    return new MalformedEventError(`The line is ${fault}`);
  }
  const form = "the bytes that the service writes, for example in spaces or line ends";
  return new MalformedEventError(`The line differs from ${form}`);
}

export function subjectOf(body: EventBody): string {
  switch (body.type) {
    case "PetCreated":
    case "PetUpdated":
    case "PetRemoved":
      return petSubject(body.data.id);
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      return keySubject(body.data.keyId);
    default:
      return assertNever(body);
  }
}

function dataschemaOf(body: EventBody): string {
  return `${TYPES[body.type].schema}:${schemaVersionOf(body)}`;
}

/** The lowest version of the schema of the event's type that has all that its data has. */
export function schemaVersionOf(body: EventBody): string {
  const { versions } = TYPES[body.type];
  if (versions.length === 1) return versions[0];
  return ["1", ...neededVersionsOf(body)].sort(compareVersions).at(-1)!;
}

/** The versions that have added what the data has. */
function neededVersionsOf({ type, data }: EventBody): string[] {
  switch (type) {
    case "PetCreated":
    case "PetRemoved":
      return releasesOf(data);
    case "PetUpdated":
      return [...releasesOf(data), ...releasesOf(data.previous)];
    case "ApiKeyIssued":
      return data.readOnly === undefined ? [] : ["2"];
    case "ApiKeyRevoked":
      return [];
    default:
      return assertNever(type);
  }
}

export function isKnownSchema(type: string, version: string): boolean {
  return Object.hasOwn(TYPES, type) && TYPES[type as EventType].versions.includes(version);
}

/** Whether one version of the schema of a type comes after another. Both are known. */
export function isLaterSchema(type: EventType, version: string, other: string): boolean {
  const { versions } = TYPES[type];
  return versions.indexOf(version) > versions.indexOf(other);
}

/** The name of a type's schema, without the version: `urn:animal-store:pet-created` for `PetCreated`. */
export function schemaOf(type: string): string {
  return `${EVENT_SOURCE}:${type.replace(/(?!^)[A-Z]/g, "-$&").toLowerCase()}`;
}

/** The members of the data are in the order of the schema. */
function encodeData({ type, data }: EventBody): string {
  switch (type) {
    case "PetCreated":
    case "PetRemoved":
      return encodePet(data);
    case "PetUpdated":
      return `${encodePet(data).slice(0, -1)},"previous":${encodePatch(data.previous)}}`;
    case "ApiKeyIssued":
    case "ApiKeyRevoked":
      return JSON.stringify(data, Object.keys(TYPES[type].data.shape));
    default:
      return assertNever(type);
  }
}
