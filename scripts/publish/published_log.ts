import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { openCheckpoint, type SignedCheckpoint } from "./checkpoint.ts";
import { isConsistent, leafHash, rootOfInclusion } from "./merkle_tree.ts";
import { CHECKPOINT_PATH, VKEY_PATH } from "./publish_log.ts";
import { decodeVerifierKey, NoteError, type VerifierKey } from "./signed_note.ts";
import { type ReadPublished, TileTree } from "./tile_tree.ts";

const PROOF_FORMAT = "c2sp.org/tlog-proof@v1";

/** The published log does not prove what was asked. The message says why. */
export class NotProvenError extends Error {
  override name = "NotProvenError";
}

/** A published log, whose checkpoint is signed by the key that is published with it. */
export class PublishedLog {
  readonly checkpoint: SignedCheckpoint;
  readonly tree: TileTree;
  #key: VerifierKey;

  /** Throws `NoteError` and `VerifierKeyError`. */
  constructor(read: ReadPublished) {
    const [vkey, note] = [VKEY_PATH, CHECKPOINT_PATH].map((path) => {
      const content = read(path);
      if (content === undefined) throw new Error(`The folder has no ${path}: nothing is published`);
      return new TextDecoder().decode(content);
    });
    this.#key = decodeVerifierKey(vkey);
    this.checkpoint = this.#open(note, "The published checkpoint");
    this.tree = new TileTree(read, this.checkpoint.size);
  }

  get size(): number {
    return this.checkpoint.size;
  }

  /**
   * The proof that the line at a position is in the log, in the format of https://c2sp.org/tlog-proof. The proof
   * was verified. Throws `NotProvenError`.
   */
  proveInclusion(line: Uint8Array, position: number): string {
    const { size, root, note } = this.checkpoint;
    if (position > size) {
      throw new NotProvenError(
        `Position ${position} is not published yet: the published log has ${size} events`,
      );
    }
    const index = position - 1;
    const leaf = leafHash(line);
    if (!bytesEqual(this.tree.leaf(index), leaf)) {
      throw new NotProvenError(`Line ${position} of the log is not the one that was published`);
    }
    const proof = this.tree.inclusionProof(index);
    if (!bytesEqual(rootOfInclusion(index, size, leaf, proof), root)) {
      throw new NotProvenError(
        "The published tiles do not have the root that the checkpoint signs",
      );
    }
    const hashes = proof.map((hash) => `${hash.toBase64()}\n`);
    return `${PROOF_FORMAT}\nindex ${index}\n${hashes.join("")}\n${note}`;
  }

  /** Proves that the log extends an older checkpoint, and returns that. Throws `NotProvenError` and `NoteError`. */
  proveConsistency(oldNote: string): SignedCheckpoint {
    const { checkpoint } = this;
    const old = this.#open(oldNote, "The older checkpoint");
    if (old.size > checkpoint.size) {
      throw new NotProvenError(
        `The published log has ${checkpoint.size} events, but the checkpoint has ${old.size}`,
      );
    }
    if (!isConsistent(old, checkpoint, this.tree.consistencyProof(old.size))) {
      throw new NotProvenError(
        `The published log of ${checkpoint.size} events does not extend the checkpoint of ${old.size}: ` +
          "the history before it is another one",
      );
    }
    return old;
  }

  #open(note: string, name: string): SignedCheckpoint {
    try {
      return openCheckpoint(note, this.#key);
    } catch (error) {
      if (!(error instanceof NoteError)) throw error;
      throw new NoteError(`${name} is not valid: ${error.message}`);
    }
  }
}
