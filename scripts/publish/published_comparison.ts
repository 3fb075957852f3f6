import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { HASH_BYTES, leafHash } from "./merkle_tree.ts";
import type { PublishedLog } from "./published_log.ts";
import { TILE_WIDTH } from "./tile.ts";
import { TileBuilder } from "./tile_builder.ts";
import { PublishedFileError } from "./tile_tree.ts";

/** Compares the lines of a log, in order, with what was published of it. */
export class PublishedComparison {
  #published: PublishedLog;
  #builder = new TileBuilder();
  /** The published tile with the hash of the next line. */
  #tile: Uint8Array = new Uint8Array();
  /** Whether a fault was reported; further ones would only repeat it. */
  #differs = false;

  constructor(published: PublishedLog) {
    this.#published = published;
  }

  /** Compares the next line. Returns the fault, if it is not the published line of its position. */
  verify(line: Uint8Array, position: number): string | undefined {
    if (this.#differs || this.#builder.size >= this.#published.size) return undefined;
    const index = this.#builder.size;
    const leaf = leafHash(line);
    const fault = this.#compare(leaf, index, position);
    this.#differs = fault !== undefined;
    this.#builder.push(leaf);
    return fault;
  }

  #compare(leaf: Uint8Array, index: number, position: number): string | undefined {
    try {
      if (index % TILE_WIDTH === 0) {
        this.#tile = this.#published.tree.tile(0, index / TILE_WIDTH);
      }
      const offset = index % TILE_WIDTH * HASH_BYTES;
      const published = this.#tile.subarray(offset, offset + HASH_BYTES);
      const isPublished = position === index + 1 && bytesEqual(published, leaf);
      return isPublished ? undefined : `Line ${index + 1} is not the one that was published`;
    } catch (error) {
      if (!(error instanceof PublishedFileError)) throw error;
      return `The published folder is damaged: ${error.message}`;
    }
  }

  /** Returns the fault of the log as a whole, if no line was reported. */
  end(): string | undefined {
    const { size, root } = this.#published.checkpoint;
    if (this.#differs) return undefined;
    if (this.#builder.size < size) {
      return `The log ends at position ${this.#builder.size}, but ${size} events were published`;
    }
    if (bytesEqual(this.#builder.root(), root)) return undefined;
    return "The published tiles do not have the root that the published checkpoint signs";
  }
}
