import { bytesEqual } from "../encoding/bytes_equal.ts";
import type { ProjectionRecord } from "../keyspace.ts";
import { type BoundedRange, scan } from "../store/scan.ts";
import type { Store } from "../store/store.ts";

/**
 * The records that a range of keys must hold. The values are bytes, and the keys differ only in their last
 * part, a number. Packed, so that the records can be transferred to another thread at little cost.
 */
export interface PackedRecords {
  range: BoundedRange;
  /** The last part of each key, in order. */
  ids: Float64Array<ArrayBuffer>;
  /** The values, concatenated. */
  values: Uint8Array<ArrayBuffer>;
  /** Offset of the end of each value in `values`. */
  ends: Float64Array<ArrayBuffer>;
}

/** Packs records of pets. `records` must be in the order of their ids. */
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

/** Whether a store holds exactly the expected records in their ranges. */
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
      // The ends of the range differ only in their last part. So do all keys of the same length within it.
      if (key.length !== range.start.length || key[key.length - 1] !== ids[index]) return false;
      const due = values.subarray(start, start = ends[index++]);
      if (!bytesEqual(value, due)) return false;
    }
  }
  return index === ids.length;
}
