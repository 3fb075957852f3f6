import { Buffer } from "node:buffer";
import { encodeKey } from "./key_encoding.ts";
import type { Key, KeyRange, Store, StoreEntry } from "./store.ts";
import { StoreDamagedError } from "./store_errors.ts";

/** Entries of the first read of a scan, whose size is not known yet. */
const FIRST_LIMIT = 16;

/** Target size of a read. Its number of entries is estimated from the previous read. */
const TARGET_BYTES = 1024 * 1024;

/**
 * Reads a range in key order, in batches, the next one while the caller processes one. Only each batch is a snapshot.
 * If the store's file is damaged, yields the entries before the damage, then rejects with `StoreDamagedError`.
 */
export async function* scan(store: Store, range: KeyRange): AsyncGenerator<StoreEntry[]> {
  let most = store.limits.listEntries;
  let limit = Math.min(FIRST_LIMIT, most);
  let rest = range;
  let reading = list(store, rest, limit);
  let readTo = new Uint8Array();
  for (let isLast = false; !isLast;) {
    const batch = await reading.catch((error) => {
      if (!(error instanceof StoreDamagedError) || limit === 1) throw error;
      most = 1;
      limit = 1;
      return list(store, rest, limit);
    });
    isLast = batch.length < limit;
    if (!isLast) {
      const lastKey = encodeKey(batch.at(-1)!.key);
      // In a damaged tree of SQLite, a page can lead to an earlier one, so the scan would not end.
      if (Buffer.compare(lastKey, readTo) <= 0) {
        throw new StoreDamagedError("The keys of its records are not in order");
      }
      readTo = lastKey;
      limit = Math.min(limitAfter(batch), most);
      rest = after(batch.at(-1)!.key, range);
      reading = list(store, rest, limit);
    }
    if (batch.length > 0) yield batch;
  }
}

function limitAfter(batch: StoreEntry[]): number {
  let bytes = 0;
  // Another program may have stored any value.
  for (const { value } of batch) bytes += (value as { length?: number } | null)?.length ?? 0;
  return Math.max(FIRST_LIMIT, Math.round(TARGET_BYTES * batch.length / Math.max(1, bytes)));
}

/** Reads all entries except those from `start` to `end`. */
export async function* scanOutside(
  store: Store,
  { start, end }: { start: Key; end: Key },
): AsyncGenerator<StoreEntry[], void> {
  yield* scan(store, { start: [new Uint8Array()], end: start });
  yield* scan(store, { prefix: [], start: end });
}

function list(store: Store, range: KeyRange, limit: number): Promise<StoreEntry[]> {
  const reading = store.list(range, { limit });
  // A caller that stops early never awaits the next batch, so its error must not count as unhandled.
  reading.catch(() => {});
  return reading;
}

/** Returns the part of a range after a key. The next possible key has one more part, the smallest one. */
function after(key: Key, range: KeyRange): KeyRange {
  const start = [...key, new Uint8Array()];
  return range.end === undefined ? { prefix: range.prefix, start } : { start, end: range.end };
}
