/**
 * The record of the consumers of a group: the instance that works, and their places. The log does not contain it, so no
 * export has it: "Consumers" in eventstore_less/internals.md explains what follows from that.
 */

import { z } from "zod";
import { decodeJson, encodeJson } from "../encoding/json.ts";
import { Instant, Sha256Hex } from "../encoding/text_forms.ts";
import { consumersKey } from "../keyspace.ts";
import { checkedContent, withChecksum } from "../store/checksum.ts";
import type { StoreEntry } from "../store/store.ts";

/** Maximum number of places in a record, which must fit into a value of every store. */
export const PLACES_LIMIT = 120;

/** Maximum size of the reason of a failure in JSON, in bytes. */
const REASON_LIMIT_BYTES = 160;

/** The failures of a handler at one event, without a success since. */
export interface Failing {
  /** When the first of them ended, in UTC. */
  since: string;
  /** Number of failures. */
  attempts: number;
  /** The message of the last failure. */
  reason: string;
  /** When the last of them ended, in UTC. */
  lastAt: string;
  /** The pause after it, in milliseconds. */
  pauseMs: number;
}

/** The last event that a consumer has handled or passed: its position with the hash of its line. */
export interface ConsumerPlace {
  position: number;
  hash: string;
  failing?: Failing;
  /** Changes when an operator names another position. */
  named?: string;
}

/** The content of the record of a group. */
export interface ConsumerRecord {
  /** The instance that works; absent if none does. */
  holder?: string;
  /** Changes with each write, so each write can be recognised. */
  write: number;
  /** The end of the log when the record was made. A consumer that begins before it needs a place. */
  since: number;
  /** The place of each consumer, by its name. */
  places: Record<string, ConsumerPlace>;
  /** The names of consumers that are stopped; with those of the places, at most {@linkcode PLACES_LIMIT}. */
  stopped?: string[];
}

const POSITION = z.int().min(0);
const FAILING = z.strictObject({
  since: Instant,
  attempts: z.int().min(1),
  reason: z.string(),
  lastAt: Instant,
  pauseMs: z.int().min(0),
});
const PLACE = z.strictObject({
  position: POSITION,
  hash: Sha256Hex,
  failing: FAILING.optional(),
  named: z.string().optional(),
});
const RECORD = z.strictObject({
  holder: z.string().optional(),
  write: z.int().min(0),
  since: POSITION,
  places: z.record(z.string(), PLACE),
  stopped: z.array(z.string()).optional(),
}) satisfies z.ZodType<ConsumerRecord>;

/** The value to store. */
export function encodeConsumerRecord(group: string, record: ConsumerRecord): Uint8Array {
  return withChecksum(consumersKey(group), encodeJson(record));
}

/** The content of a record; `undefined` if there is none, or if it is damaged. */
export function decodeConsumerRecord(entry: StoreEntry | null): ConsumerRecord | undefined {
  const content = entry === null ? undefined : checkedContent(entry);
  return content === undefined ? undefined : RECORD.safeParse(decodeJson(content)).data;
}

/** The place of a consumer; `undefined` if it has none. */
export function placeIn({ places }: ConsumerRecord, name: string): ConsumerPlace | undefined {
  return Object.hasOwn(places, name) ? places[name] : undefined;
}

/** The record of a group that has none. `end` is the end of the log. */
export function newRecord(end: { position: number }): ConsumerRecord {
  return { write: 0, since: end.position, places: {} };
}

/** A record with the place of a consumer, which is not stopped then; `undefined` if it has no room for a further place. */
export function withPlace(
  record: ConsumerRecord,
  name: string,
  place: ConsumerPlace,
): ConsumerRecord | undefined {
  const isFull = Object.keys(record.places).length >= PLACES_LIMIT;
  if (isFull && placeIn(record, name) === undefined) return undefined;
  const places = { ...record.places, [name]: place };
  return { ...record, places, stopped: stoppedWithout(record, name) };
}

/** A record without the place of a consumer; the same record if it does not have the consumer. */
export function withoutConsumer(record: ConsumerRecord, name: string): ConsumerRecord {
  const isStopped = record.stopped?.includes(name) ?? false;
  if (placeIn(record, name) === undefined && !isStopped) return record;
  const { [name]: _, ...places } = record.places;
  return { ...record, places, stopped: stoppedWithout(record, name) };
}

function stoppedWithout({ stopped }: ConsumerRecord, name: string): string[] | undefined {
  return stopped?.filter((it) => it !== name);
}

/** The beginning of the reason of a failure, short enough for the record. */
export function shortReason(reason: string): string {
  let short = "";
  let size = 0;
  for (const character of reason.slice(0, REASON_LIMIT_BYTES).toWellFormed()) {
    size += encodeJson(character).length;
    if (size > REASON_LIMIT_BYTES) break;
    short += character;
  }
  return short;
}

/** The group of a consumer: its name up to the first `/`. */
export function groupOf(name: string): string {
  return name.split("/", 1)[0];
}

/** Names of consumers: 1 to 100 letters, digits and `._~:@+-`, with one `/` or none; the first is a letter or a digit. */
export const CONSUMER_NAME =
  /^(?=[A-Za-z0-9])(?=.{1,100}$)[A-Za-z0-9._~:@+-]+(\/[A-Za-z0-9._~:@+-]+)?$/;
