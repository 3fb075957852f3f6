/** Number of entries of a chunk. Small, because the numbers of a damaged log may lie far apart. */
const CHUNK_LENGTH = 512;

/** There are at most 7 kinds, so that a kind and 48 bits fit into a number exactly. */
const KINDS_LIMIT = 8;

/** A kind and a digest of 48 bits for each of the numbers 1, 2, 3 …, in 8 bytes. */
export class DigestTable {
  #kinds: readonly string[];
  #chunks = new Map<number, Float64Array>();

  constructor(kinds: readonly string[]) {
    this.#kinds = kinds;
  }

  set(number: number, kind: string, digest: number): void {
    const index = Math.floor(number / CHUNK_LENGTH);
    const chunk = this.#chunks.get(index) ?? new Float64Array(CHUNK_LENGTH);
    this.#chunks.set(index, chunk);
    chunk[number % CHUNK_LENGTH] = digest * KINDS_LIMIT + this.#kinds.indexOf(kind) + 1;
  }

  /** The kind of a number; `undefined` if it has none. */
  kindOf(number: number): string | undefined {
    return this.#kinds[this.#get(number) % KINDS_LIMIT - 1];
  }

  has(number: number, digest: number): boolean {
    return Math.floor(this.#get(number) / KINDS_LIMIT) === digest;
  }

  clear(): void {
    this.#chunks.clear();
  }

  #get(number: number): number {
    return this.#chunks.get(Math.floor(number / CHUNK_LENGTH))?.[number % CHUNK_LENGTH] ?? 0;
  }
}
