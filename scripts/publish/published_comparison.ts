import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import type { LineComparison } from "../audit/log_audit.ts";
import { leafHash } from "./merkle_tree.ts";
import type { PublishedLog } from "./published_log.ts";
import { TileBuilder } from "./tile_builder.ts";
import { PublishedFileError } from "./tile_tree.ts";

/** Compares the lines of a log, in order, with what was published of it. */
export class PublishedComparison implements LineComparison {
  #published: PublishedLog;
  #builder = new TileBuilder();
  /** Whether a fault was reported; further ones would only repeat it. */
  #differs = false;

  constructor(published: PublishedLog) {
    this.#published = published;
  }

  verify(line: Uint8Array, position: number): string | undefined {
    const index = this.#builder.size;
    if (this.#differs || index >= this.#published.size) return undefined;
    const leaf = leafHash(line);
    this.#builder.push(leaf);
    try {
      const published = this.#published.tree.leaf(index);
      if (position === index + 1 && bytesEqual(published, leaf)) return undefined;
    } catch (error) {
      if (!(error instanceof PublishedFileError)) throw error;
      this.#differs = true;
      return `The published folder is damaged: ${error.message}`;
    }
    this.#differs = true;
    return `Line ${index + 1} is not the one that was published`;
  }

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
