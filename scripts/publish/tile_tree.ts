import { EMPTY_ROOT, HASH_BYTES, nodeHash, rootOf, splitOf } from "./merkle_tree.ts";
import { TILE_WIDTH, tilePath, widthOf } from "./tile.ts";

/**
 * Reads a file of the published folder, by its path there. Returns `undefined` if there is no such file. Throws
 * {@linkcode PublishedFileError} if it is not a regular file of the folder, or too long.
 */
export type ReadPublished = (path: string) => Uint8Array | undefined;

/** A published file cannot be used: it is missing, has another length, or is not a file. The message names it. */
export class PublishedFileError extends Error {
  override name = "PublishedFileError";
}

/** How many tiles are kept: those of a proof, of which each level has a few. */
const TILES_KEPT = 64;

/** The tree of the published tiles at a certain size. */
export class TileTree {
  readonly size: number;
  #read: ReadPublished;
  #tiles = new Map<string, Uint8Array>();

  constructor(read: ReadPublished, size: number) {
    this.#read = read;
    this.size = size;
  }

  /** The hashes of a tile, which this tree must have. Throws `PublishedFileError`. */
  tile(level: number, index: number): Uint8Array {
    const width = widthOf(level, index, this.size);
    const path = tilePath(level, index, width);
    const kept = this.#tiles.get(path);
    if (kept !== undefined) return kept;
    // A partial tile is removed when the full one is there, of which it is the beginning.
    const bytes = this.#read(path) ??
      this.#read(tilePath(level, index))?.subarray(0, width * HASH_BYTES);
    if (bytes === undefined) throw new PublishedFileError(`${path} is missing`);
    if (bytes.length !== width * HASH_BYTES) {
      throw new PublishedFileError(`${path} does not have ${width} hashes`);
    }
    if (this.#tiles.size >= TILES_KEPT) this.#tiles.clear();
    this.#tiles.set(path, bytes);
    return bytes;
  }

  /** The hash of the leaf at an index. */
  leaf(index: number): Uint8Array {
    return this.#root(index, index + 1);
  }

  root(): Uint8Array {
    return this.size === 0 ? EMPTY_ROOT : this.#root(0, this.size);
  }

  /** The hashes that lead from the leaf at an index to the root (RFC 6962, 2.1.1). */
  inclusionProof(index: number): Uint8Array[] {
    return this.#descend(index + 1, (start, end) => end - start === 1).siblings;
  }

  /** The hashes that prove that this tree begins with the tree of `oldSize` leaves (RFC 6962, 2.1.2). */
  consistencyProof(oldSize: number): Uint8Array[] {
    if (oldSize === 0) return [];
    const { siblings, start } = this.#descend(oldSize, (_, end) => end === oldSize);
    return start === 0 ? siblings : [this.#root(start, oldSize), ...siblings];
  }

  /** The subtree in which the leaf before `until` lies, and the roots beside the way to it, the lowest first. */
  #descend(until: number, isReached: (start: number, end: number) => boolean) {
    const siblings: Uint8Array[] = [];
    let [start, end] = [0, this.size];
    while (!isReached(start, end)) {
      const middle = start + splitOf(end - start);
      if (until <= middle) {
        siblings.unshift(this.#root(middle, end));
        end = middle;
      } else {
        siblings.unshift(this.#root(start, middle));
        start = middle;
      }
    }
    return { siblings, start };
  }

  /** The root of the leaves from `start` to before `end`, which must be a subtree that RFC 6962 splits off. */
  #root(start: number, end: number): Uint8Array {
    const length = end - start;
    // A complete subtree is a run of hashes in one tile.
    let level = 0;
    let span = 1;
    while (span * TILE_WIDTH <= length) {
      span *= TILE_WIDTH;
      level++;
    }
    const isPowerOfTwo = length === 1 || splitOf(length) * 2 === length;
    if (!isPowerOfTwo) {
      const middle = start + splitOf(length);
      return nodeHash(this.#root(start, middle), this.#root(middle, end));
    }
    const first = start / span;
    const index = Math.floor(first / TILE_WIDTH);
    const offset = first % TILE_WIDTH * HASH_BYTES;
    return rootOf(this.tile(level, index).subarray(offset, offset + length / span * HASH_BYTES));
  }
}
