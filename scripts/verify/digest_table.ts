import { NumberTable } from "./number_table.ts";

/**
 * A digest of 48 bits of a content, and a value, for each of the numbers 1, 2, 3 …, in 16 bytes. Each table has a
 * random seed for its digests, so that nobody can choose two contents with the same digest.
 */
export class DigestTable {
  #digests = new NumberTable();
  #values = new NumberTable();
  #seed = crypto.getRandomValues(new Uint32Array(2));

  /** The value is 1 or more. */
  set(number: number, content: Uint8Array, value: number): void {
    this.#digests.set(number, halfSipHash(content, this.#seed));
    this.#values.set(number, value);
  }

  delete(number: number): void {
    if (this.#values.get(number) !== 0) this.#values.set(number, 0);
  }

  /** Whether the content is that of the number. */
  has(number: number, content: Uint8Array): boolean {
    if (this.#values.get(number) === 0) return false;
    return this.#digests.get(number) === halfSipHash(content, this.#seed);
  }

  /** The value of a number; 0 if it has none. */
  valueAt(number: number): number {
    return this.#values.get(number);
  }

  /** The values of all numbers. */
  values(): Generator<number> {
    return this.#values.values();
  }
}

/** The first 48 bits of HalfSipHash-2-4 (https://github.com/veorq/SipHash). SHA-256 takes several times as long. */
export function halfSipHash(bytes: Uint8Array, [k0, k1]: Uint32Array): number {
  let [v0, v1, v2, v3] = [k0, k1 ^ 0xee, k0 ^ 0x6c796765, k1 ^ 0x74656462];
  let first = 0;
  const words = (bytes.length >> 2) + 1;
  for (let step = 0, at = 0; step < words + 2; step++, at += 4) {
    let word = 0;
    if (step < words) {
      // A byte after the end is undefined, and counts as 0.
      word = bytes[at] | bytes[at + 1] << 8 | bytes[at + 2] << 16 |
        (step === words - 1 ? bytes.length : bytes[at + 3]) << 24;
    } else if (step === words) v2 ^= 0xee;
    else {
      first = v1 ^ v3;
      v1 ^= 0xdd;
    }
    v3 ^= word;
    for (let rounds = step < words ? 2 : 4; rounds > 0; rounds--) {
      v0 = v0 + v1 | 0;
      v1 = (v1 << 5 | v1 >>> 27) ^ v0;
      v0 = v0 << 16 | v0 >>> 16;
      v2 = v2 + v3 | 0;
      v3 = (v3 << 8 | v3 >>> 24) ^ v2;
      v0 = v0 + v3 | 0;
      v3 = (v3 << 7 | v3 >>> 25) ^ v0;
      v2 = v2 + v1 | 0;
      v1 = (v1 << 13 | v1 >>> 19) ^ v2;
      v2 = v2 << 16 | v2 >>> 16;
    }
    v0 ^= word;
  }
  return ((v1 ^ v3) & 0xffff) * 2 ** 32 + (first >>> 0);
}
