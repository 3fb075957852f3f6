/** Signed notes (https://c2sp.org/signed-note), and checkpoints (https://c2sp.org/tlog-checkpoint). */

import { sha256Hex } from "../../encoding/sha256.ts";
import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { HASH_BYTES, type TreeHead } from "./merkle_tree.ts";
import { RefusedError } from "../refused_error.ts";
import { ToolError } from "../tool_error.ts";

/** Signature type of the specification. */
const ED25519 = 1;

const KEY_ID_BYTES = 4;

export interface VerifierKey {
  name: string;
  /** In hex. */
  id: string;
  publicKey: KeyObject;
}

export interface Signer {
  name: string;
  privateKey: KeyObject;
}

export interface SignedCheckpoint extends TreeHead {
  note: string;
}

export function signCheckpoint({ size, root }: TreeHead, signer: Signer): SignedCheckpoint {
  return {
    size,
    root,
    note: signNote(`${signer.name}\n${size}\n${Buffer.from(root).toString("base64")}\n`, signer),
  };
}

/**
 * Opens a checkpoint that the key has signed for its own name; others may have signed it, too. `what` names it. Throws
 * `RefusedError`.
 */
export function openCheckpoint(note: string, vkey: string, what: string): SignedCheckpoint {
  const key = decodeVerifierKey(vkey);
  const [text, signatures] = partsOf(note);
  const verified = signatures.map((line) => isSignedBy(key, line, text));
  if (verified.includes(false)) {
    throw new RefusedError(
      "signature_invalid",
      `${what} has a signature by ${key.name} that is not valid`,
    );
  }
  if (!verified.includes(true)) {
    throw new RefusedError(
      "signature_invalid",
      `${what} is not signed by the key ${key.name}+${key.id}`,
    );
  }
  const [origin, size, encodedRoot] = text.split("\n");
  const root = Buffer.from(encodedRoot ?? "", "base64");
  const isSize = /^(0|[1-9]\d{0,14})$/.test(size);
  const isRoot = root.length === HASH_BYTES && root.toString("base64") === encodedRoot;
  if (origin !== key.name || !isSize || !isRoot) {
    throw new RefusedError("published_damaged", `${what} is not one of the log ${key.name}`);
  }
  return { size: Number(size), root: new Uint8Array(root), note };
}

/** The text of a note, with its final line feed, and its signature lines. */
function partsOf(note: string): [text: string, signatures: string[]] {
  const end = note.lastIndexOf("\n\n") + 1;
  return [note.slice(0, end), note.slice(end).trim().split("\n")];
}

/** A name has neither white space nor a plus sign. */
export function isKeyName(name: string): boolean {
  return name.isWellFormed() && /^[^\s\p{Cc}\p{Z}+]+$/u.test(name);
}

export function encodeVerifierKey({ name, privateKey }: Signer): string {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  const material = Buffer.concat([Uint8Array.of(ED25519), Buffer.from(x!, "base64url")]);
  return `${name}+${keyId(name, material)}+${material.toString("base64")}`;
}

/** Decodes a vkey of an Ed25519 key. Throws if it is malformed. */
export function decodeVerifierKey(vkey: string): VerifierKey {
  // Base64 may have plus signs, too.
  const [, name, id, encoded] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(vkey.trim()) ?? [];
  const material = Buffer.from(encoded ?? "", "base64");
  const isNamed = name !== undefined && isKeyName(name);
  const isEd25519 = material.length === 33 && material[0] === ED25519;
  if (!isNamed || !isEd25519 || keyId(name, material) !== id) {
    throw new ToolError(
      "key_invalid",
      `${JSON.stringify(vkey.trim())} is not the vkey of an Ed25519 key`,
    );
  }
  const x = material.subarray(1).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return { name, id, publicKey };
}

/** Signs a text, which must end in a line feed. Returns the note. */
export function signNote(text: string, signer: Signer): string {
  const { id } = decodeVerifierKey(encodeVerifierKey(signer));
  const signature = sign(null, Buffer.from(text), signer.privateKey);
  const encoded = Buffer.concat([Buffer.from(id, "hex"), signature]).toString("base64");
  return `${text}\n— ${signer.name} ${encoded}\n`;
}

/** Whether a signature is valid; `undefined` if another key made it. */
export function isSignedBy(key: VerifierKey, line: string, text: string): boolean | undefined {
  const signature = parseSignatureLine(line);
  if (signature?.name !== key.name || signature.id !== key.id) return undefined;
  return verify(null, Buffer.from(text), key.publicKey, signature.bytes);
}

function parseSignatureLine(line: string) {
  const [, name, encoded] = /^— (\S+) (\S+)$/.exec(line) ?? [];
  if (name === undefined || !isKeyName(name)) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded) return undefined;
  const id = bytes.subarray(0, KEY_ID_BYTES).toString("hex");
  return { name, id, bytes: bytes.subarray(KEY_ID_BYTES) };
}

function keyId(name: string, material: Buffer): string {
  const content = Buffer.concat([Buffer.from(`${name}\n`), material]);
  return sha256Hex(content).slice(0, 2 * KEY_ID_BYTES);
}
