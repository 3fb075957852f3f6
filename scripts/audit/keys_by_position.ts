import { sha256Hex } from "../../src/encoding/sha256.ts";
import { formatKey } from "../../src/store/key_encoding/key_text.ts";
import type { Key } from "../../src/store/store.ts";

/** How many positions share an array. */
const CHUNK = 4_096;

/**
 * A set of store keys, at most one for each position in the log. It keeps 48 bits of the SHA-256 of each key,
 * because the keys of a long log would not fit into memory.
 */
export class KeysByPosition {
  #chunks = new Map<number, Float64Array>();

  add(position: number, key: Key): void {
    const number = Math.floor(position / CHUNK);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) this.#chunks.set(number, chunk = new Float64Array(CHUNK));
    chunk[position % CHUNK] = hashOf(key);
  }

  /** Removes a key. Returns whether it was in the set. */
  take(position: number, key: Key): boolean {
    const chunk = this.#chunks.get(Math.floor(position / CHUNK));
    if (chunk?.[position % CHUNK] !== hashOf(key)) return false;
    chunk[position % CHUNK] = 0;
    return true;
  }
}

/** A number from 1 to 2^48. */
function hashOf(key: Key): number {
  return parseInt(sha256Hex(formatKey(key)).slice(0, 12), 16) + 1;
}
