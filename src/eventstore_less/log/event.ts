/**
 * The events of the log, and their only encoding as lines of text: CloudEvents 1.0 in JSON
 * (https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/formats/json-format.md), with its members in one order.
 */

import { z } from "zod";
import { parseExactJson } from "../encoding/int64.ts";
import { Instant, Sha256Hex } from "../encoding/text_forms.ts";
import { type Application, schemaNameOf } from "../application.ts";
import type {
  Body,
  EventDefinition,
  Recorded,
  RecordedEvent,
  RecordedLine,
} from "../definitions.ts";
import { escapeActor, isActor, unescapeActor } from "./actor.ts";
import { dataOf, HASH_TO_DATA, SEQUENCE, sequenceOf, VERSION } from "./line_text.ts";

/** `previoushash` of the first line. */
export const GENESIS_HASH: string = "0".repeat(64);

const decoder = new TextDecoder();

/** The line of an event, without the line break. */
export function encodeEvent(application: Application, event: RecordedEvent): string {
  const { id, actor, idempotencyKey: key, previousHash, predecessor: before } = event;
  const predecessor = before === undefined ? "" : `"predecessor":"${sequenceOf(before)}",`;
  const idempotencyKey = key === undefined ? "" : `,"idempotencykey":"${key}"`;
  return `${attributesOf(application, event, id, predecessor)},"actor":"${
    escapeActor(actor)
  }"${idempotencyKey},` +
    `"previoushash":"${previousHash}${HASH_TO_DATA}${encodeData(application, event)}}`;
}

/**
 * The text of an event for clients: a CloudEvent with another id, and without what concerns only the log. It has the actor
 * only among the `extensions`.
 */
export function encodePublicEvent(
  application: Application,
  { event, line }: RecordedLine,
  id: string,
  extensions?: Extensions,
): string {
  const text = attributesOf(application, event, id) + AFTER_EXTENSIONS +
    `"data":${decoder.decode(dataOf(line))}}`;
  return extensions === undefined ? text : withExtensions(text, extensions);
}

/** Further attributes of an event for clients, by their names. */
export type Extensions = Readonly<Record<string, string | undefined>>;

const AFTER_EXTENSIONS = ',"datacontenttype":"application/json",';

/** The text of an event for clients, alone or as a message of a stream, with further attributes. */
export function withExtensions(text: string, extensions: Extensions): string {
  const at = text.indexOf(AFTER_EXTENSIONS);
  const members = Object.entries(extensions).filter(([, value]) => value !== undefined)
    .map(([name, value]) => `,"${name}":${JSON.stringify(value)}`);
  return text.slice(0, at) + members.join("") + text.slice(at);
}

/** The members that the line of an event and its text for clients begin with. Only the line has `predecessor`. */
function attributesOf(
  application: Application,
  event: RecordedEvent,
  id: string,
  predecessor = "",
): string {
  return `{"specversion":"1.0","id":"${id}","source":"${application.eventSource}","type":"${event.type}",` +
    `"time":"${event.time}","sequence":"${sequenceOf(event.position)}",${predecessor}` +
    `"subject":"${subjectOf(application, event)}","dataschema":"${
      dataschemaOf(application, event)
    }"`;
}

/** Throws `NewerVersionError` at an unknown type or version, `MalformedEventError` at what encodeEvent() cannot write. */
export function decodeEvent<EventBody extends Body>(
  application: Application<EventBody>,
  line: string,
): Recorded<EventBody> {
  const match = application.linePattern.exec(line);
  if (match === null) throw otherProgramErrorOf(application, line) ?? malformed(line);
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
    actorText,
    idempotencyKey,
    previousHash,
    data,
  ] = match;
  const position = Number(sequence);
  if (schema !== schemaOf(application, type)) throw malformed(line);
  if (!isKnownSchema(application, type, version)) {
    throw new NewerVersionError(schema, version, position, previousHash);
  }
  const definition = application.events[type];
  const body = { type, data: decodeData(definition, data, line) } as Body;
  const predecessor = before === undefined ? undefined : Number(before);
  const isBodyExact = encodeData(application, body) === data &&
    subjectOf(application, body) === subject &&
    schemaVersionOf(application, body) === version;
  const actor = unescapeActor(actorText);
  const isTimeExact = Instant.safeParse(time).success;
  const isPredecessorEarlier = predecessor === undefined ||
    (predecessor >= 1 && predecessor < position);
  if (!isBodyExact || !isTimeExact || !isPredecessorEarlier || !isActor(actor)) {
    throw malformed(line);
  }
  const event: RecordedEvent = { ...body, id, time, actor, position, previousHash };
  if (predecessor !== undefined) event.predecessor = predecessor;
  if (idempotencyKey !== undefined) event.idempotencyKey = idempotencyKey;
  return event as Recorded<EventBody>;
}

/** The error about a line of another form, if another application or a newer release wrote it. */
function otherProgramErrorOf(
  application: Application,
  line: string,
): MalformedEventError | undefined {
  const parsed = AnyLine.safeParse(tryParseJson(line));
  if (!parsed.success) return undefined;
  const { source, type, sequence, dataschema, previoushash } = parsed.data;
  if (source !== application.eventSource) {
    return new OtherApplicationError(source, application.eventSource);
  }
  const [, schema, version] = /^(.*):([^:]*)$/.exec(dataschema)!;
  if (schema !== schemaOf(application, type) || isKnownSchema(application, type, version)) {
    return undefined;
  }
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
  /** The name of the class. */
  override name: string = this.constructor.name;

  /** Joins the lines of the message. */
  constructor(message: string) {
    super(message.split("\n").map((line) => line.trim()).join(" "));
  }
}

/** A newer release of the application wrote the line. The version of a schema is the name of the release that added it. */
export class NewerVersionError extends MalformedEventError {
  readonly position: number;
  readonly previousHash: string;

  constructor(schema: string, version: string, position: number, previousHash: string) {
    super(
      `A newer release wrote the line: its schema ${schema}:${version} needs release ${version}`,
    );
    this.position = position;
    this.previousHash = previousHash;
  }
}

/** Another application wrote the line. */
export class OtherApplicationError extends MalformedEventError {
  /** How the sources differ, to follow a colon. */
  readonly reason: string;

  constructor(source: string, expected: string) {
    const reason = `its source is ${source}, not ${expected}`;
    super(`The line is of another application: ${reason}`);
    this.reason = reason;
  }
}

/** The members by which a line of a newer release or another application is recognised. All write them. */
const AnyLine = z.object({
  source: z.string(),
  type: z.string(),
  sequence: z.string().regex(new RegExp(`^${SEQUENCE}$`)),
  dataschema: z.string().regex(new RegExp(`:${VERSION}$`)),
  previoushash: Sha256Hex,
});

function decodeData(definition: EventDefinition, text: string, line: string): unknown {
  let parsed: unknown;
  try {
    parsed = parseExactJson(text);
  } catch {
    throw malformed(line);
  }
  const { data, error } = definition.data.safeParse(parsed);
  if (error !== undefined) throw new MalformedEventError(z.prettifyError(error));
  return data;
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

/** The subject of an event: `users/7` for the user with the id 7. */
export function subjectOf(application: Application, { type, data }: Body): string {
  const { collection, id } = application.events[type];
  return `${collection}/${id(data)}`;
}

function dataschemaOf(application: Application, body: Body): string {
  return `${schemaOf(application, body.type)}:${schemaVersionOf(application, body)}`;
}

/** The lowest version of the schema of the event's type that has all that its data has. */
export function schemaVersionOf(application: Application, { type, data }: Body): string {
  const { added, versions } = application.events[type];
  for (let index = versions.length - 1; index > 0; index--) {
    if (added![versions[index]](data)) return versions[index];
  }
  return versions[0];
}

export function isKnownSchema({ events }: Application, type: string, version: string): boolean {
  return Object.hasOwn(events, type) && events[type].versions.includes(version);
}

/** Whether one version of the schema of a type comes after another. Both are known. */
export function isLaterSchema(
  { events }: Application,
  type: string,
  version: string,
  other: string,
): boolean {
  const { versions } = events[type];
  return versions.indexOf(version) > versions.indexOf(other);
}

/** The name of a type's schema, without the version: `urn:user-registry:user-created` for `UserCreated`. */
export function schemaOf({ events, eventSource }: Application, type: string): string {
  return Object.hasOwn(events, type) ? events[type].schema : schemaNameOf(eventSource, type);
}

function encodeData({ events }: Application, { type, data }: Body): string {
  return events[type].encode(data);
}
