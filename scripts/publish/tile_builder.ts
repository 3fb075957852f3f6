import { EMPTY_ROOT, HASH_BYTES, rootOf } from "./merkle_tree.ts";
import { hashesOn, TILE_WIDTH, widthOf } from "./tile.ts";
import type { TileTree } from "./tile_tree.ts";

export interface Tile {
  level: number;
  index: number;
  /** The hashes, concatenated: {@linkcode TILE_WIDTH} of them if the tile is full. */
  hashes: Uint8Array;
}

/** Appends leaves to a tree, and makes its tiles. It keeps one tile of each level. */
export class TileBuilder {
  #size = 0;
  /** The hashes of the rightmost tile of each level, with room for a full tile. */
  #open: Uint8Array[] = [];
  #onFull: (tile: Tile) => void;

  /** `onFull` is called with each tile that becomes full. */
  constructor(onFull: (tile: Tile) => void = () => {}) {
    this.#onFull = onFull;
  }

  /** Continues a tree after its first `size` leaves, a multiple of {@linkcode TILE_WIDTH}. */
  static resume(tree: TileTree, size: number, onFull?: (tile: Tile) => void): TileBuilder {
    const builder = new TileBuilder(onFull);
    builder.#size = size;
    for (let level = 0; hashesOn(level, size) > 0; level++) {
      const index = Math.floor(hashesOn(level, size) / TILE_WIDTH);
      const bytes = widthOf(level, index, size) * HASH_BYTES;
      const hashes = builder.#openTile(level);
      if (bytes > 0) hashes.set(tree.tile(level, index).subarray(0, bytes));
    }
    return builder;
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  push(leaf: Uint8Array): void {
    this.#size++;
    let hash = leaf;
    for (let level = 0;; level++) {
      const open = this.#openTile(level);
      const count = hashesOn(level, this.#size);
      open.set(hash, (count - 1) % TILE_WIDTH * HASH_BYTES);
      if (count % TILE_WIDTH > 0) return;
      const hashes = open.slice();
      this.#onFull({ level, index: count / TILE_WIDTH - 1, hashes });
      hash = rootOf(hashes);
    }
  }

  /** The tiles at the right edge that are not full. */
  partialTiles(): Tile[] {
    return this.#open.flatMap((open, level) => {
      const index = Math.floor(hashesOn(level, this.#size) / TILE_WIDTH);
      const hashes = open.slice(0, widthOf(level, index, this.#size) * HASH_BYTES);
      return hashes.length === 0 ? [] : [{ level, index, hashes }];
    });
  }

  root(): Uint8Array {
    let root: Uint8Array | undefined;
    for (const { hashes } of this.partialTiles()) {
      // The hashes beyond the full tiles of the lower levels are the last subtree of this level.
      root = rootOf(root === undefined ? hashes : Uint8Array.of(...hashes, ...root));
    }
    return root ?? EMPTY_ROOT;
  }

  #openTile(level: number): Uint8Array {
    return this.#open[level] ??= new Uint8Array(TILE_WIDTH * HASH_BYTES);
  }
}
