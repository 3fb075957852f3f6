/** Number of values of a chunk. Small, because the numbers of a damaged log may lie far apart. */
const CHUNK_LENGTH = 512;

/**
 * A value for each name: in 8 bytes if the name is one of the numbers 1, 2, 3 …, and in a map if it is a text. The value
 * of a name that has none is 0.
 */
export class NumberTable {
  #chunks = new Map<number, Float64Array>();
  #texts = new Map<string, number>();

  set(name: number | string, value: number): void {
    if (typeof name === "string") {
      this.#texts.set(name, value);
      return;
    }
    const index = Math.floor(name / CHUNK_LENGTH);
    let chunk = this.#chunks.get(index);
    if (chunk === undefined) {
      chunk = new Float64Array(CHUNK_LENGTH);
      this.#chunks.set(index, chunk);
    }
    chunk[name % CHUNK_LENGTH] = value;
  }

  get(name: number | string): number {
    if (typeof name === "string") return this.#texts.get(name) ?? 0;
    const chunk = this.#chunks.get(Math.floor(name / CHUNK_LENGTH));
    return chunk === undefined ? 0 : chunk[name % CHUNK_LENGTH];
  }

  /** The names with a value that is not 0, and these values. */
  *entries(): Generator<[name: number | string, value: number]> {
    for (const [index, chunk] of this.#chunks) {
      for (const [place, value] of chunk.entries()) {
        if (value !== 0) yield [index * CHUNK_LENGTH + place, value];
      }
    }
    for (const [name, value] of this.#texts) {
      if (value !== 0) yield [name, value];
    }
  }
}
