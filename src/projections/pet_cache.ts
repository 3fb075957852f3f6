import { petIdOf } from "../../events/pet.ts";
import { LINE_FEED } from "../encoding/pack_lines.ts";

/** Size of a part of the ring, in bytes: several times the longest text. */
export const SLAB_BYTES = 1024 * 1024;

/** Number of slabs: enough for a million ordinary pets. */
export const SLABS = 96;

/** Number of texts that the index can find. Ids that differ by a multiple of it replace each other. */
export const INDEX_SIZE = 2 ** 20;

const decoder = new TextDecoder();

/**
 * Caches the texts of pets in memory, in UTF-8. They are copied into a ring of a few large arrays, where new ones
 * overwrite the oldest. Many small arrays take more memory, and more time in garbage collection.
 */
export class PetCache {
  /** The bytes at a position are in slab `position / SLAB_BYTES`. */
  #slabs: Uint8Array[] = [];
  /** The position of the next text. */
  #end = 0;
  /** The last position of each id's text. Later texts may have overwritten it. */
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

  /** Caches the text of a pet, instead of an earlier one. */
  put(id: number, text: Uint8Array): void {
    const length = text.length + 1;
    if (length > SLAB_BYTES) return;
    const free = SLAB_BYTES - this.#end % SLAB_BYTES;
    if (length > free) this.#end += free;
    this.#end %= SLABS * SLAB_BYTES;
    const slab = this.#slabs[Math.floor(this.#end / SLAB_BYTES)] ??= new Uint8Array(SLAB_BYTES);
    const start = this.#end % SLAB_BYTES;
    slab.set(text, start);
    slab[start + text.length] = LINE_FEED;
    this.#positions[id % INDEX_SIZE] = this.#end;
    this.#end += length;
  }

  clear(): void {
    this.#slabs = [];
    this.#end = 0;
  }
}
