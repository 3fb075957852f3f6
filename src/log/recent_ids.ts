import { NAME_WORDS, NameTable } from "./name_table.ts";

/** Minimum number of recent ids kept; up to twice as many are kept. */
export const IDS_KEPT = 10_000;

/** The most recently used ULIDs (https://github.com/ulid/spec), kept as numbers and not as strings. */
export class RecentIds {
  #current = new NameTable();
  #earlier = new NameTable();
  #name = new Uint32Array(NAME_WORDS);

  /** Adds an id, and returns whether it was already used. */
  isUsed(id: string): boolean {
    if (this.#current.count >= IDS_KEPT) {
      this.#earlier = this.#current;
      this.#current = new NameTable();
    }
    decodeUlid(id, this.#name);
    const { count } = this.#current;
    this.#current.add(this.#name);
    return this.#current.count === count || this.#earlier.find(this.#name) !== -1;
  }
}

/** The value of each digit in Crockford's alphabet, by its character code. */
const VALUES = new Uint8Array(128);
[..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"].forEach((digit, value) => {
  VALUES[digit.charCodeAt(0)] = value;
});

/** Decodes 26 digits of five bits each. The first two bits are always 0. */
function decodeUlid(id: string, name: Uint32Array): void {
  let bits = 0;
  let count = -2;
  let word = 0;
  for (let index = 0; index < 26; index++) {
    const value = VALUES[id.charCodeAt(index)];
    count += 5;
    if (count < 32) bits = bits << 5 | value;
    else {
      count -= 32;
      name[word++] = bits << 5 - count | value >> count;
      bits = value & (1 << count) - 1;
    }
  }
}
