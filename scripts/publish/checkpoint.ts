/** Checkpoints: signed notes of a tree's size and root (https://c2sp.org/tlog-checkpoint). */

import { Buffer } from "node:buffer";
import { HASH_BYTES, type TreeHead } from "./merkle_tree.ts";
import { NoteError, openNote, type Signer, signNote, type VerifierKey } from "./signed_note.ts";

export interface SignedCheckpoint extends TreeHead {
  origin: string;
  /** The whole note, with all its signatures. */
  note: string;
}

export function signCheckpoint({ size, root }: TreeHead, signer: Signer): SignedCheckpoint {
  const origin = signer.name;
  const text = `${origin}\n${size}\n${root.toBase64()}\n`;
  return { origin, size, root, note: signNote(text, signer) };
}

/** Opens a checkpoint that the key has signed for the origin of its own name. Throws `NoteError`. */
export function openCheckpoint(note: string, key: VerifierKey): SignedCheckpoint {
  const [origin, size, encodedRoot] = openNote(note, key).split("\n");
  const root = Buffer.from(encodedRoot ?? "", "base64");
  if (
    origin !== key.name || !/^(0|[1-9]\d{0,15})$/.test(size) ||
    !Number.isSafeInteger(Number(size)) ||
    root.length !== HASH_BYTES || root.toString("base64") !== encodedRoot
  ) {
    throw new NoteError(`It is not a checkpoint of the log ${key.name}`);
  }
  return { origin, size: Number(size), root: new Uint8Array(root), note };
}

/** The origin that a checkpoint claims. Nothing is verified. */
export function claimedOrigin(note: string): string {
  return note.split("\n", 1)[0];
}
