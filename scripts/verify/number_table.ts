/** Number of values of a chunk. Small, because the numbers of a damaged log may lie far apart. */
const CHUNK_LENGTH = 512;

/** A value for each of the numbers 1, 2, 3 …, in 8 bytes. The value of a number that has none is 0. */
export class NumberTable {
  #chunks = new Map<number, Float64Array>();

  set(number: number, value: number): void {
    const index = Math.floor(number / CHUNK_LENGTH);
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = new Float64Array(CHUNK_LENGTH);
      this.#chunks.set(index, chunk);
    }
    chunk[number % CHUNK_LENGTH] = value;
  }

  get(number: number): number {
    const chunk = this.#chunks.get(Math.floor(number / CHUNK_LENGTH));
    return chunk === undefined ? 0 : chunk[number % CHUNK_LENGTH];
  }

  /** The values of all numbers that have one. */
  *values(): Generator<number> {
    for (const chunk of this.#chunks.values()) {
      for (const value of chunk) {
        if (value !== 0) yield value;
      }
    }
  }
}
