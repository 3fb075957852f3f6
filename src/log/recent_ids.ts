import { NAME_WORDS, NameTable } from "./name_table.ts";

/** How many of the last ids are remembered, or up to twice as many. */
export const IDS_REMEMBERED = 10_000;

/** The ULIDs that were used last (https://github.com/ulid/spec). Keeps none of the texts. */
export class RecentIds {
  #current = new NameTable();
  #earlier = new NameTable();
  #name = new Uint32Array(NAME_WORDS);

  /** Remembers an id, and tells whether it was used before. */
  isUsed(id: string): boolean {
    if (this.#current.count >= IDS_REMEMBERED) {
      this.#earlier = this.#current;
      this.#current = new NameTable();
    }
    decodeUlid(id, this.#name);
    const { count } = this.#current;
    this.#current.add(this.#name);
    return this.#current.count === count || this.#earlier.find(this.#name) !== -1;
  }
}

/** Crockford's alphabet: the value of a digit by its character code. */
const VALUES = new Uint8Array(128);
[..."0123456789ABCDEFGHJKMNPQRSTVWXYZ"].forEach((digit, value) => {
  VALUES[digit.charCodeAt(0)] = value;
});

/** 26 digits of five bits, of which the first two are always 0. */
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
