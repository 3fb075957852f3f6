import type { Store, StoreEntry } from "./store.ts";

/** Entries a batch, fewer than KV gives: more of twice as many would outlive a collection of garbage. */
export const SCAN_BATCH = 500;

/** Keys from `start` up to, but not including, `end`; or all that begin with `prefix`, bounded at one side at most. */
export type KeyRange =
  | { start: Deno.KvKey; end: Deno.KvKey }
  | { prefix: Deno.KvKey; start?: Deno.KvKey; end?: undefined }
  | { prefix: Deno.KvKey; start?: undefined; end: Deno.KvKey };

export interface BoundedRange {
  start: Deno.KvKey;
  end: Deno.KvKey;
}

/**
 * All entries of a range in key order, in batches of which the next is read while one is worked on.
 * Each batch is a snapshot; the whole is none.
 */
export async function* scan(store: Store, range: KeyRange): AsyncGenerator<StoreEntry[]> {
  let reading: Promise<StoreEntry[]> | undefined = list(store, range as Deno.KvListSelector);
  while (reading !== undefined) {
    const batch: StoreEntry[] = await reading;
    reading = batch.length < SCAN_BATCH ? undefined : list(store, after(batch.at(-1)!.key, range));
    if (batch.length > 0) yield batch;
  }
}

/** All entries under a prefix except those of the ranges left out, which must be given in key order. */
export async function* scanOutside(
  store: Store,
  prefix: Deno.KvKey,
  leftOut: BoundedRange[],
): AsyncGenerator<StoreEntry[]> {
  let start: Deno.KvKey | undefined;
  for (const { start: end, end: next } of leftOut) {
    yield* scan(store, start === undefined ? { prefix, end } : { start, end });
    start = next;
  }
  yield* scan(store, start === undefined ? { prefix } : { prefix, start });
}

function list(store: Store, range: Deno.KvListSelector): Promise<StoreEntry[]> {
  const reading = store.list(range, { limit: SCAN_BATCH });
  // Who stops half-way never asks for the batch that was read ahead, nor for its failure.
  reading.catch(() => {});
  return reading;
}

/** What of a range follows a key. The next key after one is that with one more part, the smallest there is. */
function after(key: Deno.KvKey, range: KeyRange): Deno.KvListSelector {
  const start = [...key, new Uint8Array()];
  // A prefix can be bounded at one side only, and where it begins is known by now.
  return range.end === undefined ? { prefix: range.prefix, start } : { start, end: range.end };
}
