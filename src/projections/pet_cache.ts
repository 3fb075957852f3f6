import { petIdOf } from "../../events/pet.ts";
import { LINE_FEED } from "../encoding/pack_lines.ts";
import type { ProjectionRecord } from "../keyspace.ts";

/** Size of a part of the ring, in bytes: several times the largest record. */
export const SLAB_BYTES = 1024 * 1024;

/** Number of slabs: enough for a million ordinary pets. */
export const SLABS = 96;

/** How many consecutive ids share an entry of the index. */
const BLOCK_SIZE = 64;

/** Maximum number of entries of the index, of half a kilobyte each. */
export const BLOCKS_LIMIT = 24_576;

const decoder = new TextDecoder();

/**
 * Caches the texts of pets in memory, in UTF-8. Records are copied into a ring of a few large arrays, where new
 * ones overwrite the oldest. Many small arrays take more memory, and more time in garbage collection.
 */
export class PetCache {
  /** The bytes at a position are in slab `position / SLAB_BYTES % SLABS`. */
  #slabs: Uint8Array[] = [];
  /** The position of the next record. It starts at the second slab, so that no text is at position 0. */
  #end = SLAB_BYTES;
  /** The positions of the texts in blocks of consecutive ids; 0 if the text of an id was never cached. */
  #positions = new Map<number, Float64Array>();

  get(id: number): string | undefined {
    const position = this.#positionOf(id);
    if (position === undefined) return undefined;
    const slab = this.#slabs[slabOf(position) % SLABS];
    const start = position % SLAB_BYTES;
    return decoder.decode(slab.subarray(start, slab.indexOf(LINE_FEED, start)));
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
    const isWhole = firstId + countLines(record) - 1 === lastId;
    if (!isWhole || this.#has(firstId) && this.#has(lastId)) return;
    if (this.#end % SLAB_BYTES + record.length > SLAB_BYTES) {
      this.#end = (slabOf(this.#end) + 1) * SLAB_BYTES;
    }
    const slab = this.#slabs[slabOf(this.#end) % SLABS] ??= new Uint8Array(SLAB_BYTES);
    slab.set(record, this.#end % SLAB_BYTES);
    let offset = 0;
    for (let id = firstId; id <= lastId; id++) {
      this.#blockOf(id)[id % BLOCK_SIZE] = this.#end + offset;
      offset = record.indexOf(LINE_FEED, offset) + 1;
    }
    this.#end += record.length;
  }

  clear(): void {
    this.#slabs = [];
    this.#end = SLAB_BYTES;
    this.#positions.clear();
  }

  #has(id: number): boolean {
    return this.#positionOf(id) !== undefined;
  }

  /** The position of a text that was not overwritten. */
  #positionOf(id: number): number | undefined {
    const position = this.#positions.get(Math.floor(id / BLOCK_SIZE))?.[id % BLOCK_SIZE];
    if (position === undefined || position === 0) return undefined;
    return slabOf(this.#end) - slabOf(position) < SLABS ? position : undefined;
  }

  #blockOf(id: number): Float64Array {
    const number = Math.floor(id / BLOCK_SIZE);
    let block = this.#positions.get(number);
    if (block === undefined) {
      this.#positions.set(number, block = new Float64Array(BLOCK_SIZE));
      if (this.#positions.size > BLOCKS_LIMIT) {
        this.#positions.delete(this.#positions.keys().next().value!);
      }
    }
    return block;
  }
}

/** The number of the slab of a position, before it wraps around. */
function slabOf(position: number): number {
  return Math.floor(position / SLAB_BYTES);
}

function countLines(record: Uint8Array): number {
  let count = 0;
  for (let end = -1; (end = record.indexOf(LINE_FEED, end + 1)) !== -1;) count++;
  return count;
}
