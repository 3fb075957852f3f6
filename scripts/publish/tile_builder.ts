import { EMPTY_ROOT, HASH_BYTES, rootOf } from "./merkle_tree.ts";
import { hashesOn, TILE_WIDTH } from "./tile.ts";
import type { TileTree } from "./tile_tree.ts";

export interface Tile {
  level: number;
  index: number;
  /** The hashes, concatenated: {@linkcode TILE_WIDTH} of them if the tile is full. */
  hashes: Uint8Array;
}

/** The rightmost tile of a level, which is not full. */
interface OpenTile {
  index: number;
  width: number;
  hashes: Uint8Array;
}

/** Appends leaves to a tree, and makes its tiles. It keeps one tile of each level. */
export class TileBuilder {
  #size = 0;
  #open: OpenTile[] = [];
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
      const hashes = hashesOn(level, size);
      const open = builder.#openTile(level);
      open.index = Math.floor(hashes / TILE_WIDTH);
      open.width = hashes % TILE_WIDTH;
      if (open.width === 0) continue;
      open.hashes.set(tree.tile(level, open.index).subarray(0, open.width * HASH_BYTES));
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
      open.hashes.set(hash, open.width++ * HASH_BYTES);
      if (open.width < TILE_WIDTH) return;
      const hashes = open.hashes.slice();
      this.#onFull({ level, index: open.index, hashes });
      open.index++;
      open.width = 0;
      hash = rootOf(hashes);
    }
  }

  /** The tiles at the right edge that are not full. */
  partialTiles(): Tile[] {
    return this.#open.flatMap(({ index, width, hashes }, level) =>
      width === 0 ? [] : [{ level, index, hashes: hashes.slice(0, width * HASH_BYTES) }]
    );
  }

  root(): Uint8Array {
    let root: Uint8Array | undefined;
    for (const { hashes } of this.partialTiles()) {
      // The hashes beyond the full tiles of the lower levels are the last subtree of this level.
      root = rootOf(root === undefined ? hashes : concatenate(hashes, root));
    }
    return root ?? EMPTY_ROOT;
  }

  #openTile(level: number): OpenTile {
    return this.#open[level] ??= {
      index: 0,
      width: 0,
      hashes: new Uint8Array(TILE_WIDTH * HASH_BYTES),
    };
  }
}

function concatenate(one: Uint8Array, other: Uint8Array): Uint8Array {
  const both = new Uint8Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
