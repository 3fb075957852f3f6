/** Reads what can still be read of a damaged log. */

import { sha256Hex } from "../../encoding/sha256.ts";
import { isLogKey, logKey } from "../../keyspace.ts";
import { GENESIS_HASH } from "../../log/event.ts";
import { eventOf, splitLines } from "../../log/lines.ts";
import type { StoredLine } from "../../log/read_log.ts";
import { checkedContent, CHECKSUM_BYTES } from "../../store/checksum.ts";
import { scan } from "../../store/scan.ts";
import type { Store, StoreEntry } from "../../store/store.ts";
import { StoreDamagedError } from "../../store/store_errors.ts";
import type { Application } from "../../application.ts";

/** The lines that a record of the log holds, sound or not. */
export interface RawRecord {
  lines: Uint8Array[];
  /** Whether the checksum of the record is right. */
  isIntact: boolean;
}

const LAST_KEY = logKey(Number.MAX_SAFE_INTEGER);

/** After so many unreadable positions in a row, which take some seconds, the rest of the log counts as lost. */
const TRIES_LIMIT = 200_000;

/**
 * Yields the records of a store's log that hold lines from a position on, in the order of their keys, whatever the head
 * says. Leaves out those that cannot be read.
 */
export async function* readableRecords(store: Store, from = 1): AsyncGenerator<RawRecord[]> {
  let next: number | undefined = from;
  while (next !== undefined) {
    try {
      for await (const entries of scan(store, { start: logKey(next), end: LAST_KEY })) {
        const records = entries.filter(({ key }) => isLogKey(key));
        if (records.length === 0) continue;
        const last = records.at(-1)!.key[1] as number;
        if (last < next) throw new StoreDamagedError("The keys of its records are not in order");
        next = last + 1;
        yield await Promise.all(records.map(rawRecordOf));
      }
      return;
    } catch (error) {
      if (!(error instanceof StoreDamagedError)) throw error;
      next = await nextReadable(store, next);
    }
  }
}

/** The first position after another one from which a record can be read; `undefined` if there is none. */
async function nextReadable(store: Store, after: number): Promise<number | undefined> {
  for (let position = after + 1; position <= after + TRIES_LIMIT; position++) {
    try {
      const [entry] = await store.list({ start: logKey(position), end: LAST_KEY }, { limit: 1 });
      if (entry === undefined) return undefined;
      if (isLogKey(entry.key) && entry.key[1] >= position) return position;
    } catch (error) {
      if (!(error instanceof StoreDamagedError)) throw error;
    }
  }
}

export async function rawRecordOf(entry: StoreEntry): Promise<RawRecord> {
  const { value } = entry;
  const bytes = value instanceof Uint8Array ? value.subarray(CHECKSUM_BYTES) : new Uint8Array();
  const lines = (await Array.fromAsync(splitLines([bytes]))).flat();
  return {
    lines: lines.filter(({ length }) => length > 0),
    isIntact: checkedContent(entry) !== undefined,
  };
}

/**
 * Yields the lines that continue a log after a position, whose line has that hash, up to the first one that is missing
 * or does not fit. If the checksum of its record is wrong, a line counts only if the next line names its hash. If the next
 * line names another hash, either of the two may have been altered, so both are left out, whatever their checksums.
 */
export async function* continuingLines(
  application: Application,
  store: Store,
  after: { position: number; hash: string } = { position: 0, hash: GENESIS_HASH },
): AsyncGenerator<StoredLine[]> {
  let { position: last, hash: lastHash } = after;
  /** The last line that fits, until the next one confirms it. */
  let held: (StoredLine & { isIntact: boolean }) | undefined;
  for await (const records of readableRecords(store, last + 1)) {
    const confirmed: StoredLine[] = [];
    for (const { line, isIntact } of records.flatMap(markedLines)) {
      const event = eventOf(application, line);
      const isBefore = event !== undefined && event.position <= last;
      // A record may also hold lines before those that are wanted.
      if (isBefore) continue;
      const isNext = event?.position === last + 1;
      if (!isNext) {
        if (held?.isIntact) confirmed.push(held);
        yield confirmed;
        return;
      }
      if (event.previousHash !== lastHash) {
        yield confirmed;
        return;
      }
      if (held !== undefined) confirmed.push(held);
      last = event.position;
      lastHash = sha256Hex(line);
      held = { position: last, line, isIntact };
    }
    yield confirmed;
  }
  if (held?.isIntact) yield [held];
}

function markedLines({ lines, isIntact }: RawRecord) {
  return lines.map((line) => ({ line, isIntact }));
}
