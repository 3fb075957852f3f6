import { bytesEqual } from "../bytes_equal.ts";
import type { ProjectionRecord } from "../store/keyspace.ts";
import { type BoundedRange, scan } from "../store/scan.ts";
import type { Store } from "../store/store.ts";

/**
 * What a range of keys must hold: values of bytes, and keys that differ in their last part alone, which
 * is a number. Packed, so that it goes to another thread at little cost.
 */
export interface PackedRecords {
  range: BoundedRange;
  /** The last part of each key, in order. */
  ids: Float64Array<ArrayBuffer>;
  /** The values one after the other. */
  values: Uint8Array<ArrayBuffer>;
  /** Where each value ends. */
  ends: Float64Array<ArrayBuffer>;
}

/** `records` of pets, in the order of their ids. */
export function packRecords(
  range: BoundedRange,
  records: readonly ProjectionRecord[],
): PackedRecords {
  const ids = new Float64Array(records.length);
  const ends = new Float64Array(records.length);
  let end = 0;
  for (const [index, { key, value }] of records.entries()) {
    ids[index] = key[key.length - 1] as number;
    ends[index] = end += value.length;
  }
  const values = new Uint8Array(end);
  for (const [index, { value }] of records.entries()) {
    values.set(value as Uint8Array, ends[index] - value.length);
  }
  return { range, ids, values, ends };
}

/** Whether a store holds all of these and nothing else. */
export async function matchesStore(store: Store, expected: PackedRecords[]): Promise<boolean> {
  const answers = await Promise.all(expected.map((entries) => isHeld(store, entries)));
  return !answers.includes(false);
}

async function isHeld(
  store: Store,
  { range, ids, values, ends }: PackedRecords,
): Promise<boolean> {
  let index = 0;
  let start = 0;
  for await (const batch of scan(store, range)) {
    for (const { key, value } of batch) {
      // Both ends of the range share all parts but the last, and so do all keys of that length in it.
      if (key.length !== range.start.length || key[key.length - 1] !== ids[index]) return false;
      const due = values.subarray(start, start = ends[index++]);
      if (!bytesEqual(value, due)) return false;
    }
  }
  return index === ids.length;
}
