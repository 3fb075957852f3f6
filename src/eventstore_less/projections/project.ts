import type { Application } from "../application.ts";
import type {
  Body,
  ProjectionKey,
  ProjectionRecord,
  Recorded,
  RecordedEvent,
  RecordedLine,
} from "../definitions.ts";
import { words } from "../words.ts";
import { bytesEqual } from "../encoding/bytes_equal.ts";
import { decodeJson, encodeJson } from "../encoding/json.ts";
import { IDEMPOTENCY_LIFETIME_MS, idempotencyRecordKey, kindOf } from "../keyspace.ts";
import { subjectOf } from "../log/event.ts";
import { eventOf } from "../log/lines.ts";
import { LogDamagedError, readEventAt, readLog } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import { checkedContent } from "../store/checksum.ts";
import { keysEqual, keyText } from "../store/key_encoding.ts";
import type { Key, Store, StoreEntry } from "../store/store.ts";

/**
 * The only projection function: the records that consecutive events write or remove, each once, as it is after the last
 * event. It depends on nothing but the events.
 */
export function project(
  application: Application,
  lines: readonly RecordedLine[],
): ProjectionRecord[] {
  const records: ProjectionRecord[] = [];
  for (const recorded of lines) {
    const { event } = recorded;
    for (const record of application.events[event.type].project(recorded)) records.push(record);
    if (event.idempotencyKey !== undefined) records.push(idempotencyRecordOf(event));
  }
  return isAnySubjectRepeated(application, lines) ? lastOfEachKey(records) : records;
}

/** Whether two of the events are of one subject. Only such events write or remove the same record. */
function isAnySubjectRepeated(application: Application, lines: readonly RecordedLine[]): boolean {
  const areAllFirst = lines.every(({ event }) => application.events[event.type].isFirst);
  if (areAllFirst) return false;
  const subjects = new Set(lines.map(({ event }) => subjectOf(application, event)));
  return subjects.size < lines.length;
}

function lastOfEachKey(records: readonly ProjectionRecord[]): ProjectionRecord[] {
  const byKey = new Map<string, ProjectionRecord>();
  for (const record of records) byKey.set(keyText(record.key), record);
  return [...byKey.values()];
}

function idempotencyRecordOf({ actor, idempotencyKey, position, time }: RecordedEvent) {
  const expiresAt = Date.parse(time) + IDEMPOTENCY_LIFETIME_MS;
  return {
    key: idempotencyRecordKey(actor, idempotencyKey!, position),
    content: encodeJson({ expiresAt: new Date(expiresAt).toISOString() }),
    expiresAt,
  };
}

/** Decodes a record whose content is JSON. Throws `projection_damaged`. */
// deno-lint-ignore no-explicit-any -- as JSON.parse
export function decodeRecord(application: Application, entry: StoreEntry): any {
  return decodeJson(contentOf(application, entry));
}

/** The content of a record. Throws `projection_damaged`. */
export function contentOf(application: Application, entry: StoreEntry): Uint8Array {
  const content = checkedContent(entry);
  if (content === undefined) throw damagedError(application, entry.key, "is damaged");
  return content;
}

/** The event at a position, which must have made the record. Rejects with `projection_damaged`. */
export async function proveRecord<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  entry: StoreEntry,
  position: number,
): Promise<Recorded<EventBody>> {
  const found = await readProof(application, store, position);
  const proven = entry.key.slice(2);
  const made = project(application, [found]).find(({ key }) => keysEqual(key, proven));
  if (made?.content !== undefined && bytesEqual(checkedContent(entry), made.content)) {
    return found.event;
  }
  throw damagedError(
    application,
    entry.key,
    `does not follow from the event at position ${position}`,
  );
}

/** The line at a position that a record names. If the log is damaged there, no replay helps. */
export async function readProof<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  position: number,
): Promise<RecordedLine<EventBody>> {
  const found = await readEventAt(application, store, position);
  if (found !== undefined) return found;
  throw unreadableError(position);
}

/** The events from one position to another. Rejects with `projection_damaged` if the log cannot be read there. */
export async function readEvents<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  from: number,
  to: number,
): Promise<Recorded<EventBody>[]> {
  const events: Recorded<EventBody>[] = [];
  try {
    for await (const lines of readLog(store, { from, to })) {
      for (const { position, line } of lines) {
        const event = eventOf(application, line);
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
  return new ServiceError("projection_damaged", message, { cause: `run ${words().audit}` });
}

/** The error about the record under that key. */
export function damagedError(
  application: Application,
  [, , kind, ...parts]: Key,
  fault: string,
): ServiceError {
  const owner = kindOf(application, kind)!.owner([kind as string, ...parts as ProjectionKey]);
  return new ServiceError("projection_damaged", `The record of ${owner} ${fault}`, {
    cause: `run ${words().replay}`,
  });
}
