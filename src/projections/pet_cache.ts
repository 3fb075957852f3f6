import { petIdOf } from "../../events/pet.ts";
import { LINE_FEED } from "../encoding/pack_lines.ts";
import type { ProjectionRecord } from "../keyspace.ts";

/** Size of a part of the ring, in bytes: several times the largest record. */
export const SLAB_BYTES = 1024 * 1024;

/** Number of slabs: enough for a million ordinary pets. */
export const SLABS = 96;

/** Number of texts that the index can find. Ids that differ by a multiple of it replace each other. */
export const INDEX_SIZE = 2 ** 20;

const decoder = new TextDecoder();

/**
 * Caches the texts of pets in memory, in UTF-8. Records are copied into a ring of a few large arrays, where new
 * ones overwrite the oldest. Many small arrays take more memory, and more time in garbage collection.
 */
export class PetCache {
  /** The bytes at a position are in slab `position / SLAB_BYTES`. */
  #slabs: Uint8Array[] = [];
  /** The position of the next record. */
  #end = 0;
  /** The last position of each id's text. A later text may have overwritten it. */
  #positions = new Uint32Array(INDEX_SIZE);

  get(id: number): string | undefined {
    const position = this.#positions[id % INDEX_SIZE];
    const slab = this.#slabs[Math.floor(position / SLAB_BYTES)];
    if (slab === undefined) return undefined;
    const start = position % SLAB_BYTES;
    const text = slab.subarray(start, slab.indexOf(LINE_FEED, start));
    // No part of a text looks like the start of one, because JSON escapes quotation marks.
    return petIdOf(text) === id ? decoder.decode(text) : undefined;
  }

  /** Caches the pets in records that were just written. */
  add(records: readonly ProjectionRecord[]): void {
    for (const { key: [kind, lastId], value } of records) {
      if (kind === "pet") this.put(lastId as number, value as Uint8Array);
    }
  }

  /** Caches the pets of a record that was stored under its last id, unless the record is damaged. */
  put(lastId: number, record: Uint8Array): void {
    if (record.length > SLAB_BYTES || record.at(-1) !== LINE_FEED) return;
    const firstId = petIdOf(record);
    const starts = startsOf(record);
    if (firstId + starts.length - 1 !== lastId) return;
    if (this.get(firstId) !== undefined && this.get(lastId) !== undefined) return;
    const free = SLAB_BYTES - this.#end % SLAB_BYTES;
    if (record.length > free) this.#end += free;
    this.#end %= SLABS * SLAB_BYTES;
    const slab = this.#slabs[Math.floor(this.#end / SLAB_BYTES)] ??= new Uint8Array(SLAB_BYTES);
    slab.set(record, this.#end % SLAB_BYTES);
    for (const [index, start] of starts.entries()) {
      this.#positions[(firstId + index) % INDEX_SIZE] = this.#end + start;
    }
    this.#end += record.length;
  }

  clear(): void {
    this.#slabs = [];
    this.#end = 0;
  }
}

/** The offsets at which the lines of a record start. */
function startsOf(record: Uint8Array): number[] {
  const starts: number[] = [];
  for (let start = 0; start < record.length; start = record.indexOf(LINE_FEED, start) + 1) {
    starts.push(start);
  }
  return starts;
}
