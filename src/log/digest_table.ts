/** Number of entries of a chunk. Small, because the numbers of a damaged log may lie far apart. */
const CHUNK_LENGTH = 512;

/** Codes are from 1 to 7, so that a code and 48 bits fit into a number exactly. */
const CODES = 8;

/** A code and a digest of 48 bits for each of the numbers 1, 2, 3 …, in 8 bytes. */
export class DigestTable {
  #chunks = new Map<number, Float64Array>();

  set(number: number, code: number, digest: number): void {
    const index = Math.floor(number / CHUNK_LENGTH);
    const chunk = this.#chunks.getOrInsertComputed(index, () => new Float64Array(CHUNK_LENGTH));
    chunk[number % CHUNK_LENGTH] = digest * CODES + code;
  }

  /** The code of a number; 0 if it has none. */
  codeOf(number: number): number {
    return this.#get(number) % CODES;
  }

  has(number: number, code: number, digest: number): boolean {
    return this.#get(number) === digest * CODES + code;
  }

  clear(): void {
    this.#chunks.clear();
  }

  #get(number: number): number {
    return this.#chunks.get(Math.floor(number / CHUNK_LENGTH))?.[number % CHUNK_LENGTH] ?? 0;
  }
}
