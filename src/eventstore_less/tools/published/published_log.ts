import { bytesEqual } from "../../encoding/bytes_equal.ts";
import { Buffer } from "node:buffer";
import { eventsText } from "../events_text.ts";
import { isConsistent, isIncluded, leafHash, type TreeHead } from "./merkle_tree.ts";
import { RefusedError } from "../refused_error.ts";
import { ToolError } from "../tool_error.ts";
import { openCheckpoint, type SignedCheckpoint } from "./signed_note.ts";
import { type ReadPublished, type Tile, TileBuilder, TileTree } from "./tile_tree.ts";

export const CHECKPOINT_PATH = "checkpoint";
export const VKEY_PATH = "log.vkey";

const PROOF_FORMAT = "c2sp.org/tlog-proof@v1";
const OTHER_ROOT = "The published tiles do not have the root that the checkpoint signs";

/** A published log, whose checkpoint is signed by the key that is published with it. */
export class PublishedLog {
  readonly checkpoint: SignedCheckpoint;
  readonly tree: TileTree;
  #vkey: string;

  /** Throws `RefusedError`, or `ToolError` if nothing is published. */
  constructor(read: ReadPublished) {
    const { vkey, note } = readSignature(read);
    if (vkey === undefined || note === undefined) {
      const path = vkey === undefined ? VKEY_PATH : CHECKPOINT_PATH;
      throw new ToolError("not_published", `The folder has no ${path}: nothing is published`);
    }
    this.#vkey = vkey;
    this.checkpoint = openCheckpoint(note, vkey, "The published checkpoint");
    this.tree = new TileTree(read, this.checkpoint.size);
  }

  /** The verified proof (https://c2sp.org/tlog-proof) that the line at a position is in the log. Throws `RefusedError`. */
  proveInclusion(line: Uint8Array, position: number): string {
    const { size, note } = this.checkpoint;
    if (position > size) {
      const fact = `the published log has ${eventsText(size)}`;
      throw new RefusedError("not_published", `Position ${position} is not published yet: ${fact}`);
    }
    const index = position - 1;
    const leaf = leafHash(line);
    expectPublished(leaf, index, this.tree);
    const proof = this.tree.inclusionProof(index);
    if (!isIncluded(leaf, index, this.checkpoint, proof)) {
      throw new RefusedError("published_damaged", OTHER_ROOT);
    }
    const hashes = proof.map((hash) => `${Buffer.from(hash).toString("base64")}\n`);
    return `${PROOF_FORMAT}\nindex ${index}\n${hashes.join("")}\n${note}`;
  }

  /** Proves that the log extends an older checkpoint, and returns that. Throws `RefusedError`. */
  proveConsistency(oldNote: string): SignedCheckpoint {
    const { checkpoint } = this;
    const old = openCheckpoint(oldNote, this.#vkey, "The older checkpoint");
    if (old.size <= checkpoint.size) {
      const proof = this.tree.consistencyProof(old.size);
      if (isConsistent(old, checkpoint, proof)) return old;
    }
    const events = eventsText(checkpoint.size);
    const sizes = `${events} does not extend the checkpoint of ${old.size}`;
    throw new RefusedError(
      "published_differs",
      `The published log of ${sizes}: the history before it is another one`,
    );
  }
}

/** The vkey and the checkpoint of a published log; `undefined` if they are missing. */
export function readSignature(read: ReadPublished) {
  const textAt = (path: string) => {
    const content = read(path);
    return content === undefined ? undefined : new TextDecoder().decode(content);
  };
  return { vkey: textAt(VKEY_PATH), note: textAt(CHECKPOINT_PATH) };
}

/** Compares the lines of a log, in order, with what was published of it. Throws `RefusedError` if they differ. */
export class PublishedComparison {
  readonly builder = new TileBuilder();
  #published: TreeHead;
  #tree: TileTree;

  constructor(published: TreeHead, tree: TileTree) {
    this.#published = published;
    this.#tree = tree;
  }

  /** Compares the next line. Returns the tiles that are full with it. */
  verify(line: Uint8Array): Tile[] {
    const index = this.builder.size;
    const { size, root } = this.#published;
    const leaf = leafHash(line);
    if (index < size) expectPublished(leaf, index, this.#tree);
    const full = this.builder.push(leaf);
    const isLastPublished = index + 1 === size;
    if (isLastPublished && !bytesEqual(this.builder.root(), root)) {
      throw new RefusedError("published_damaged", OTHER_ROOT);
    }
    return full;
  }

  end(): void {
    const { size } = this.#published;
    const end = this.builder.size;
    if (end >= size) return;
    const published = eventsText(size);
    throw new RefusedError(
      "published_differs",
      `The log ends at position ${end}, but the published log has ${published}`,
    );
  }
}

function expectPublished(leaf: Uint8Array, index: number, tree: TileTree): void {
  if (bytesEqual(tree.leaf(index), leaf)) return;
  throw new RefusedError(
    "published_differs",
    `Line ${index + 1} of the log is not the one that was published`,
  );
}
