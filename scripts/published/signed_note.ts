/** Signed notes (https://c2sp.org/signed-note), and checkpoints (https://c2sp.org/tlog-checkpoint). */

import { Buffer } from "node:buffer";
import { createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { HASH_BYTES, type TreeHead } from "./merkle_tree.ts";
import { RefusedError } from "../cli/refused_error.ts";

/** Signature types of the specification. */
const ED25519 = 1;
const ED25519_COSIGNATURE = 4;

const KEY_ID_BYTES = 4;
const TIMESTAMP_BYTES = 8;
/** Without the id of its key, which precedes it. */
const COSIGNATURE_BYTES = TIMESTAMP_BYTES + 64;

/** Its `id` is in hex. */
export type VerifierKey = ReturnType<typeof decodeVerifierKey>;

export interface Signer {
  name: string;
  privateKey: KeyObject;
}

export interface SignedCheckpoint extends TreeHead {
  note: string;
}

export function signCheckpoint({ size, root }: TreeHead, signer: Signer): SignedCheckpoint {
  return { size, root, note: signNote(`${signer.name}\n${size}\n${root.toBase64()}\n`, signer) };
}

/** Opens a checkpoint that the key has signed for its own name. `what` names it. Throws `RefusedError`. */
export function openCheckpoint(note: string, vkey: string, what: string): SignedCheckpoint {
  const key = decodeVerifierKey(vkey);
  const [text, signatures] = partsOf(note);
  const verified = signatures.map((line) => isSignedBy(key, line, text));
  if (verified.includes(false)) {
    throw new RefusedError(`${what} has a signature by ${key.name} that is not valid`);
  }
  if (!verified.includes(true)) {
    throw new RefusedError(`${what} is not signed by the key ${key.name}+${key.id}`);
  }
  const [origin, size, encodedRoot] = text.split("\n");
  const root = Buffer.from(encodedRoot ?? "", "base64");
  if (
    origin !== key.name || !/^(0|[1-9]\d{0,14})$/.test(size) ||
    root.length !== HASH_BYTES || root.toString("base64") !== encodedRoot
  ) {
    throw new RefusedError(`${what} is not one of the log ${key.name}`);
  }
  return { size: Number(size), root: new Uint8Array(root), note };
}

/** The text of a note, with its final line feed, and its signature lines. */
export function partsOf(note: string): [text: string, signatures: string[]] {
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
export function decodeVerifierKey(vkey: string) {
  // Base64 may have plus signs, too.
  const [, name, id, encoded] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(vkey.trim()) ?? [];
  const material = Buffer.from(encoded ?? "", "base64");
  const [type] = material;
  if (
    name === undefined || !isKeyName(name) || material.length !== 33 ||
    type !== ED25519 && type !== ED25519_COSIGNATURE || keyId(name, material) !== id
  ) {
    throw new Error(`${JSON.stringify(vkey.trim())} is not the vkey of an Ed25519 key`);
  }
  const x = material.subarray(1).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return { name, id, type, publicKey };
}

/** Signs a text, which must end in a line feed. Returns the note. */
export function signNote(text: string, signer: Signer): string {
  const { id } = decodeVerifierKey(encodeVerifierKey(signer));
  const signature = sign(null, Buffer.from(text), signer.privateKey);
  const encoded = Buffer.concat([Buffer.from(id, "hex"), signature]).toString("base64");
  return `${text}\n— ${signer.name} ${encoded}\n`;
}

/** Whether a signature or cosignature (https://c2sp.org/tlog-cosignature) is valid; `undefined` if by another key. */
export function isSignedBy(key: VerifierKey, line: string, text: string): boolean | undefined {
  const { name, id, bytes } = parseSignatureLine(line) ?? {};
  if (bytes === undefined || name !== key.name || id !== key.id) return undefined;
  if (key.type === ED25519) return verify(null, Buffer.from(text), key.publicKey, bytes);
  if (bytes.length !== COSIGNATURE_BYTES) return false;
  const message = `cosignature/v1\ntime ${bytes.readBigUInt64BE()}\n${text}`;
  return verify(null, Buffer.from(message), key.publicKey, bytes.subarray(TIMESTAMP_BYTES));
}

/**
 * The lines that are cosignatures by one of the keys; without keys, all cosignatures, unverified. Leaves out a line in
 * the name of the log itself, which would make the checkpoint invalid.
 */
export function cosignaturesIn(lines: string, keys: readonly VerifierKey[], note: string) {
  const [text] = partsOf(note);
  const [origin] = text.split("\n", 1);
  return lines.split("\n").filter((line) => {
    const signature = parseSignatureLine(line);
    if (signature?.bytes.length !== COSIGNATURE_BYTES || signature.name === origin) return false;
    return keys.length === 0 || keys.some((key) => isSignedBy(key, line, text));
  });
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
