/** The tiles of a tree: files with up to 256 hashes of one level (https://c2sp.org/tlog-tiles). */

import { Buffer } from "node:buffer";
import {
  EMPTY_ROOT,
  HASH_BYTES,
  rootOf,
  rootOver,
  type Subtree,
  subtreesOfProof,
} from "./merkle_tree.ts";
import { RefusedError } from "../refused_error.ts";

/** Maximum number of hashes of a tile, and of entries of a bundle. */
export const TILE_WIDTH = 256;

/** A tile. Level 0 has the hashes of lines; a hash of level N + 1 is the root of a full tile of level N. */
export interface Tile {
  level: number;
  index: number;
  /** The hashes, concatenated: {@linkcode TILE_WIDTH} of them if the tile is full. */
  hashes: Uint8Array;
}

/** Reads a file by its path in the published folder; `undefined` if it is missing. Throws `RefusedError` at any other. */
export type ReadPublished = (path: string) => Uint8Array | undefined;

/** The path of a tile in the published folder, or of the bundle with the entries of a tile of level 0. */
export function tilePath(level: number | "entries", index: number, width = TILE_WIDTH): string {
  const digits = String(index);
  // Groups of three digits, all but the last after an x.
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, "0");
  const path = `tile/${level}/${padded.replaceAll(/...(?=.)/g, "x$&/")}`;
  return width === TILE_WIDTH ? path : `${path}.p/${width}`;
}

/** Number of hashes on a level of a tree of that size, which is the number of full tiles on the level below. */
function hashesOn(level: number, size: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/** The tree of the published tiles at a certain size. */
export class TileTree {
  readonly size: number;
  #read: ReadPublished;
  /** The last tile, because many calls in turn need the same one. */
  #last: Tile | undefined;

  constructor(read: ReadPublished, size: number) {
    this.#read = read;
    this.size = size;
  }

  leaf(index: number): Uint8Array {
    return this.#root({ start: index, end: index + 1 });
  }

  /** The hashes that lead from the leaf at an index to the root (RFC 6962, 2.1.1). Throws `RefusedError`. */
  inclusionProof(index: number): Uint8Array[] {
    const [, ...siblings] = subtreesOfProof(index, { start: 0, end: this.size });
    return siblings.map((subtree) => this.#root(subtree));
  }

  /** The hashes that prove that this tree begins with the tree of `oldSize` leaves (RFC 6962, 2.1.2). */
  consistencyProof(oldSize: number): Uint8Array[] {
    if (oldSize === 0) return [];
    const subtrees = subtreesOfProof(oldSize - 1, { start: 0, end: this.size }, true);
    const isOldRootFirst = subtrees[0].start === 0;
    const unknown = isOldRootFirst ? subtrees.slice(1) : subtrees;
    return unknown.map((subtree) => this.#root(subtree));
  }

  #root(subtree: Subtree): Uint8Array {
    return rootOver(subtree, ({ start, end }) => {
      const power = Math.log2(end - start);
      if (!Number.isInteger(power)) return undefined;
      // A complete subtree is a run of hashes in one tile.
      const level = Math.floor(power / Math.log2(TILE_WIDTH));
      const tile = this.#tile(level, hashesOn(level + 1, start));
      const from = hashesOn(level, start) % TILE_WIDTH * HASH_BYTES;
      return rootOf(tile.subarray(from, from + hashesOn(level, end - start) * HASH_BYTES));
    });
  }

  /** The hashes of a tile, which this tree must have. Throws `RefusedError`. */
  #tile(level: number, index: number): Uint8Array {
    if (this.#last?.level === level && this.#last.index === index) return this.#last.hashes;
    const width = Math.min(TILE_WIDTH, hashesOn(level, this.size) - index * TILE_WIDTH);
    const path = tilePath(level, index, width);
    // A partial tile is removed when the full one is there, of which it is the beginning.
    const hashes = this.#read(path) ??
      this.#read(tilePath(level, index))?.subarray(0, width * HASH_BYTES);
    if (hashes === undefined) {
      throw new RefusedError("published_damaged", `The published folder lacks ${path}`);
    }
    if (hashes.length !== width * HASH_BYTES) {
      throw new RefusedError(
        "published_damaged",
        `The published ${path} does not have ${width} hashes`,
      );
    }
    this.#last = { level, index, hashes };
    return hashes;
  }
}

export class TileBuilder {
  size = 0;
  /** The hashes of the rightmost tile of each level, which is not full. */
  #open: Uint8Array[][] = [];

  /** Adds a leaf. Returns the tiles that are full with it, from level 0 up. */
  push(leaf: Uint8Array): Tile[] {
    const full: Tile[] = [];
    this.size++;
    let hash = leaf;
    for (let level = 0;; level++) {
      this.#open[level] ??= [];
      const open = this.#open[level];
      open.push(hash);
      if (open.length < TILE_WIDTH) return full;
      const hashes = Buffer.concat(open);
      this.#open[level] = [];
      full.push({ level, index: hashesOn(level + 1, this.size) - 1, hashes });
      hash = rootOf(hashes);
    }
  }

  /** The tiles at the right edge that are not full. */
  partialTiles(): Tile[] {
    return this.#open.flatMap((open, level) => {
      const index = hashesOn(level + 1, this.size);
      return open.length === 0 ? [] : { level, index, hashes: Buffer.concat(open) };
    });
  }

  root(): Uint8Array {
    if (this.size === 0) return EMPTY_ROOT;
    // The hashes beyond the full tiles of the lower levels are the last subtree of a level.
    let below: Uint8Array = new Uint8Array();
    for (const { hashes } of this.partialTiles()) below = rootOf(Buffer.concat([hashes, below]));
    return below;
  }
}
