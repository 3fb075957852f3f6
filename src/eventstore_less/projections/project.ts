import { Buffer } from "node:buffer";
import { assertNever } from "../../encoding/assert_never.ts";
import { petTextOf, type RecordedEvent, type RecordedLine } from "../log/event.ts";
import { bytesEqual } from "../../encoding/bytes_equal.ts";
import { decodeJson, encodeJson } from "../../encoding/json.ts";
import {
  eventByIdempotencyKeyKey,
  IDEMPOTENCY_LIFETIME_MS,
  issuedKeyKey,
  keyStateKey,
  petKeysOf,
  type ProjectionRecord,
  removedPetKey,
} from "../keyspace.ts";
import { revocationOf } from "../../keys/api_key.ts";
import { eventOf } from "../log/lines.ts";
import { LogDamagedError, readEventAt, readLog } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import { checkedContent } from "../store/checksum.ts";
import type { Key, Store, StoreEntry } from "../store/store.ts";

const ZERO = 0x30;
const OPENING_BRACE = 0x7b;
const decoder = new TextDecoder();

/**
 * The only projection function: the records that consecutive events write or remove, each once, as it is after the last
 * event. It depends on nothing but the events.
 */
export function project(lines: readonly RecordedLine[]): ProjectionRecord[] {
  const records: ProjectionRecord[] = [];
  let mayRepeatKeys = false;
  for (const recorded of lines) {
    const { event } = recorded;
    switch (event.type) {
      case "PetUpdated": {
        mayRepeatKeys = true;
        const { data } = event;
        const content = petContentOf(recorded);
        // The pet may stay in its lists, so the records that are removed come before those that are written.
        for (const key of petKeysOf(data, data.previous)) records.push({ key });
        for (const key of petKeysOf(data)) records.push({ key, content });
        if (event.idempotencyKey !== undefined) records.push(idempotencyRecordOf(event));
        break;
      }
      case "PetCreated": {
        const content = petContentOf(recorded);
        for (const key of petKeysOf(event.data)) records.push({ key, content });
        if (event.idempotencyKey !== undefined) records.push(idempotencyRecordOf(event));
        break;
      }
      case "PetRemoved":
        mayRepeatKeys = true;
        records.push(removalRecordOf(event));
        for (const key of petKeysOf(event.data)) records.push({ key });
        if (event.idempotencyKey !== undefined) records.push(idempotencyRecordOf(event));
        break;
      case "ApiKeyIssued": {
        const { data: { tokenHash, ...terms }, position, time } = event;
        const issued = encodeJson({ position, issuedAt: time, ...terms });
        const state = encodeJson({ position });
        records.push({ key: issuedKeyKey(tokenHash), content: issued });
        records.push({ key: keyStateKey(tokenHash), content: state });
        break;
      }
      case "ApiKeyRevoked": {
        mayRepeatKeys = true;
        const { data: { tokenHash }, position } = event;
        const content = encodeJson({ position, ...revocationOf(event) });
        records.push({ key: keyStateKey(tokenHash), content });
        break;
      }
      default:
        assertNever(event);
    }
  }
  return mayRepeatKeys ? lastOfEachKey(records) : records;
}

function lastOfEachKey(records: readonly ProjectionRecord[]): ProjectionRecord[] {
  const byKey = new Map<string, ProjectionRecord>();
  for (const record of records) byKey.set(record.key.join(), record);
  return [...byKey.values()];
}

/** The position of the event that made the pet, and the JSON text of the pet. */
function petContentOf(recorded: RecordedLine): Uint8Array {
  return Buffer.concat([Buffer.from(String(recorded.event.position)), petTextOf(recorded)]);
}

/** The record by which a read tells a removed pet from one whose records are lost. Nothing deletes it. */
function removalRecordOf({ data, position }: RecordedEvent & { type: "PetRemoved" }) {
  return { key: removedPetKey(data.id), content: Buffer.from(String(position)) };
}

function idempotencyRecordOf({ actor, idempotencyKey, position, time }: RecordedEvent) {
  const expiresAt = Date.parse(time) + IDEMPOTENCY_LIFETIME_MS;
  return {
    key: eventByIdempotencyKeyKey(actor, idempotencyKey!, position),
    content: encodeJson({ expiresAt: new Date(expiresAt).toISOString() }),
    expiresAt,
  };
}

export interface PetRecord {
  id: number;
  text: string;
  /** Position of the last event that added or changed the pet. */
  position: number;
  /** The entity tag of the text, once it was needed. */
  cachedTag?: string;
}

/** Decodes a record of a pet. Throws `projection_damaged`. */
export function petOf(entry: StoreEntry): PetRecord {
  const content = contentOf(entry);
  const id = entry.key.at(-1) as number;
  const text = decoder.decode(textIn(content));
  if (!text.startsWith(`{"id":${id},`)) throw damagedError(entry.key, "has another pet");
  return { id, text, position: positionIn(content) };
}

export function textIn(content: Uint8Array): Uint8Array {
  return content.subarray(content.indexOf(OPENING_BRACE));
}

/** The position at the start of the content of a record of a pet. */
export function positionIn(content: Uint8Array): number {
  let position = 0;
  for (let index = 0; content[index] !== OPENING_BRACE && index < content.length; index++) {
    position = 10 * position + content[index] - ZERO;
  }
  return position;
}

/** The position of the event that removed a pet, of the record of its removal. Throws `projection_damaged`. */
export function removalPositionOf(entry: StoreEntry): number {
  const text = decoder.decode(contentOf(entry));
  const position = Number(text);
  const id = entry.key.at(-1) as number;
  // Each pet has an event of its own before, so its removal has a larger position than its id.
  const isPosition = Number.isSafeInteger(position) && String(position) === text && position > id;
  if (!isPosition) throw damagedError(entry.key, "names no position of a removal");
  return position;
}

/** Decodes the JSON of a record that is not of a pet. Throws `projection_damaged`. */
export function decodeRecord(entry: StoreEntry) {
  return decodeJson(contentOf(entry));
}

function contentOf(entry: StoreEntry): Uint8Array {
  const content = checkedContent(entry);
  if (content === undefined) throw damagedError(entry.key, "is damaged");
  return content;
}

/** The event at a position, which must have made the record. Rejects with `projection_damaged`. */
export async function proveRecord(
  store: Store,
  entry: StoreEntry,
  position: number,
): Promise<RecordedEvent> {
  const found = await readProof(store, position);
  const name = entry.key.slice(2).join();
  const made = project([found]).find(({ key }) => key.join() === name);
  if (made?.content !== undefined && bytesEqual(checkedContent(entry), made.content)) {
    return found.event;
  }
  throw damagedError(entry.key, `does not follow from the event at position ${position}`);
}

/** The line at a position that a record names. If the log is damaged there, no replay helps. */
export async function readProof(store: Store, position: number): Promise<RecordedLine> {
  const found = await readEventAt(store, position);
  if (found !== undefined) return found;
  throw unreadableError(position);
}

/** The events from one position to another. Rejects with `projection_damaged` if the log cannot be read there. */
export async function readEvents(
  store: Store,
  from: number,
  to: number,
): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  try {
    for await (const lines of readLog(store, { from, to })) {
      for (const { position, line } of lines) {
        const event = eventOf(line);
        if (event?.position !== position) throw unreadableError(position);
        events.push(event);
      }
    }
  } catch (error) {
    if (!(error instanceof LogDamagedError)) throw error;
    throw unreadableError(from + events.length);
  }
  return events;
}

function unreadableError(position: number): ServiceError {
  const message = `The log cannot be read at position ${position}`;
  return new ServiceError("projection_damaged", message, { cause: "run deno task audit" });
}

/** The error about a record of that key. */
export function damagedError([, , kind, ...rest]: Key, fault: string): ServiceError {
  const names = {
    issued_key: "an API key",
    key_state: "an API key",
    event_by_idempotency_key: "an Idempotency-Key",
  };
  const what = names[kind as keyof typeof names] ?? `pet ${rest.at(-1)}`;
  const message = `The record of ${what} ${fault}`;
  return new ServiceError("projection_damaged", message, { cause: "run deno task replay" });
}
