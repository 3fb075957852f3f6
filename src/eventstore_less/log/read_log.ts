import type { Application } from "../application.ts";
import type { Body, RecordedLine } from "../definitions.ts";
import { words } from "../words.ts";
import { unpackLines } from "../encoding/pack_lines.ts";
import { LOG_RECORD_LIMIT_BYTES, logKey } from "../keyspace.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { scan } from "../store/scan.ts";
import { checkedContent } from "../store/checksum.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { eventOf } from "./lines.ts";

/** A line of the log, and its position. */
export interface StoredLine {
  /** Position of the event: 1, 2, 3 … */
  position: number;
  /** The line in UTF-8, without the line break. */
  line: Uint8Array;
}

/** The lines of a record, not decoded; `undefined` if `logMutations()` cannot have written the record. */
export function linesOf(entry: Pick<StoreEntry, "key" | "value">): StoredLine[] | undefined {
  const last = entry.key[1] as number;
  const lines = unpackLines(checkedContent(entry));
  if (lines === undefined || lines.length > last) return undefined;
  const first = last - lines.length + 1;
  return lines.map((line, index) => ({ position: first + index, line }));
}

/** A record has fewer lines than this, because each line has a hash of 64 bytes and more. */
export const RECORD_LINES_LIMIT = LOG_RECORD_LIMIT_BYTES / 64;

/** The stored log is incomplete. The message names the first position that is missing or not a line. */
export class LogDamagedError extends Error {
  /** `fault` follows "Position 7 of the log". */
  constructor(position: number, fault: string) {
    super(`Position ${position} of the log ${fault}; run ${words().audit}`);
    this.name = "LogDamagedError";
  }
}

/**
 * Reads lines in batches; `to` must not exceed the position of the head. Throws `LogDamagedError` if a line is missing,
 * repeated or in a damaged record, so that nobody takes that log for a complete one. Only an audit checks the content.
 */
export async function* readLog(
  store: Store,
  { from, to }: { from: number; to: number },
): AsyncGenerator<StoredLine[], void> {
  if (from > to) return;
  let next = from;
  const records = { start: logKey(from), end: logKey(to + RECORD_LINES_LIMIT) };
  for await (const entries of scan(store, records)) {
    const batch: StoredLine[] = [];
    for (const entry of entries) {
      const lines = linesOf(entry);
      if (lines === undefined) throw new LogDamagedError(next, "is in a damaged record");
      const [{ position: first }] = lines;
      if (first > next) throw new LogDamagedError(next, "is missing");
      if (first < next && next !== from) throw new LogDamagedError(first, "is there twice");
      // The first and the last record may hold other lines, too.
      batch.push(...lines.filter(({ position }) => position >= next && position <= to));
      next = lines.at(-1)!.position + 1;
      if (next > to) break;
    }
    yield batch;
    if (next > to) return;
  }
  if (next <= to) throw new LogDamagedError(next, "is missing");
}

/** The event at a position, in one read; `undefined` if it is missing, damaged, or not one that this version knows. */
export async function readEventAt<EventBody extends Body>(
  application: Application<EventBody>,
  store: Store,
  position: number,
): Promise<RecordedLine<EventBody> | undefined> {
  const range = { start: logKey(position), end: logKey(position + RECORD_LINES_LIMIT) };
  const [entry] = await store.list(range, { limit: 1 });
  if (entry === undefined) return undefined;
  const stored = linesOf(entry)?.find((it) => it.position === position);
  if (stored === undefined) return undefined;
  const { line } = stored;
  const event = eventOf(application, line);
  return event?.position === position ? { event, line } : undefined;
}

/**
 * The earlier of two times: that of the clock, and that of the last event, at that position. In milliseconds since the
 * Unix epoch; negative infinity if nothing is known. A clock that is ahead for a while does not move it, so it ends no
 * Idempotency-Key too early.
 */
export async function logTime(
  application: Application,
  store: Store,
  runtime: Runtime,
  position: number,
): Promise<number> {
  const found = position === 0 ? undefined : await readEventAt(application, store, position);
  return found === undefined ? -Infinity : Math.min(runtime.now(), Date.parse(found.event.time));
}

/** Seconds since the event at a position; `undefined` if there is none, or if it cannot be read now. */
export async function secondsSinceEvent(
  application: Application,
  store: Store,
  runtime: Runtime,
  position = 0,
): Promise<number | undefined> {
  if (position === 0) return undefined;
  // A gauge without a value is enough: requests and the audit report the failure.
  const found = await readEventAt(application, store, position).catch(() => undefined);
  if (found === undefined) return undefined;
  return (runtime.now() - Date.parse(found.event.time)) / 1_000;
}
