import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import type { LineComparison } from "../audit/log_audit.ts";
import { isConsistent, leafHash, rootOfInclusion } from "./merkle_tree.ts";
import { RefusedError } from "../cli/refused_error.ts";
import {
  decodeVerifierKey,
  openCheckpoint,
  type SignedCheckpoint,
  type VerifierKey,
} from "./signed_note.ts";
import { type ReadPublished, TileBuilder, TileTree } from "./tile_tree.ts";

export const CHECKPOINT_PATH = "checkpoint";
export const VKEY_PATH = "log.vkey";

const PROOF_FORMAT = "c2sp.org/tlog-proof@v1";
export const OTHER_ROOT = "The published tiles do not have the root that the checkpoint signs";

/** A published log, whose checkpoint is signed by the key that is published with it. */
export class PublishedLog {
  readonly checkpoint: SignedCheckpoint;
  readonly tree: TileTree;
  #key: VerifierKey;

  /** Throws `RefusedError`, or another error if nothing is published. */
  constructor(read: ReadPublished) {
    const [vkey, note] = [VKEY_PATH, CHECKPOINT_PATH].map((path) => {
      const content = read(path);
      if (content === undefined) throw new Error(`The folder has no ${path}: nothing is published`);
      return new TextDecoder().decode(content);
    });
    this.#key = decodeVerifierKey(vkey);
    this.checkpoint = openCheckpoint(note, this.#key, "The published checkpoint");
    this.tree = new TileTree(read, this.checkpoint.size);
  }

  /**
   * The proof that the line at a position is in the log, in the format of https://c2sp.org/tlog-proof. The proof
   * was verified. Throws `RefusedError`.
   */
  proveInclusion(line: Uint8Array, position: number): string {
    const { size, root, note } = this.checkpoint;
    if (position > size) {
      throw new RefusedError(
        `Position ${position} is not published yet: the published log has ${size} events`,
      );
    }
    const index = position - 1;
    const leaf = leafHash(line);
    expectPublished(leaf, index, this.tree);
    const proof = this.tree.inclusionProof(index);
    if (!bytesEqual(rootOfInclusion(index, size, leaf, proof), root)) {
      throw new RefusedError(OTHER_ROOT);
    }
    const hashes = proof.map((hash) => `${hash.toBase64()}\n`);
    return `${PROOF_FORMAT}\nindex ${index}\n${hashes.join("")}\n${note}`;
  }

  /** Proves that the log extends an older checkpoint, and returns that. Throws `RefusedError`. */
  proveConsistency(oldNote: string): SignedCheckpoint {
    const { checkpoint } = this;
    const old = openCheckpoint(oldNote, this.#key, "The older checkpoint");
    if (old.size > checkpoint.size) {
      throw new RefusedError(
        `The published log has ${checkpoint.size} events, but the checkpoint has ${old.size}`,
      );
    }
    if (!isConsistent(old, checkpoint, this.tree.consistencyProof(old.size))) {
      throw new RefusedError(
        `The published log of ${checkpoint.size} events does not extend the checkpoint of ${old.size}: ` +
          "the history before it is another one",
      );
    }
    return old;
  }
}

/** Compares the lines of a log, in order, with what was published of it. */
export class PublishedComparison implements LineComparison {
  #published: PublishedLog;
  #builder = new TileBuilder();
  /** Whether a fault was reported; further ones would only repeat it. */
  #differs = false;

  constructor(published: PublishedLog) {
    this.#published = published;
  }

  verify(line: Uint8Array): string | undefined {
    const { tree } = this.#published;
    const index = this.#builder.size;
    if (this.#differs || index >= tree.size) return undefined;
    const leaf = leafHash(line);
    this.#builder.push(leaf);
    try {
      expectPublished(leaf, index, tree);
      return undefined;
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      this.#differs = true;
      return error.message;
    }
  }

  end(): string | undefined {
    const { size, root } = this.#published.checkpoint;
    if (this.#differs) return undefined;
    if (this.#builder.size < size) {
      return `The log ends at position ${this.#builder.size}, but ${size} events were published`;
    }
    return bytesEqual(this.#builder.root(), root) ? undefined : OTHER_ROOT;
  }
}

/** Throws `RefusedError` if a line is not the published one. */
export function expectPublished(leaf: Uint8Array, index: number, tree: TileTree): void {
  if (bytesEqual(tree.leaf(index), leaf)) return;
  throw new RefusedError(`Line ${index + 1} of the log is not the one that was published`);
}
