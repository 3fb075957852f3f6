/** Notes with Ed25519 signatures (https://c2sp.org/signed-note). */

import { Buffer } from "node:buffer";
import { createPublicKey, hash, type KeyObject, sign, verify } from "node:crypto";

/** Signature types of the specification. */
const ED25519 = 1;
const ED25519_COSIGNATURE = 4;

const KEY_ID_BYTES = 4;
const TIMESTAMP_BYTES = 8;
const ED25519_BYTES = 64;

/** Length of a cosignature after the id of its key: 76 bytes with that. */
export const COSIGNATURE_BYTES = TIMESTAMP_BYTES + ED25519_BYTES;

/** A public key and its name, as a vkey has them. */
export interface VerifierKey {
  name: string;
  id: Buffer;
  type: number;
  publicKey: KeyObject;
}

/** A private key and its name. */
export interface Signer {
  name: string;
  privateKey: KeyObject;
}

/** A note is malformed or its signature is not valid. */
export class NoteError extends Error {
  override name = "NoteError";
}

/** A vkey is malformed. */
export class VerifierKeyError extends Error {
  override name = "VerifierKeyError";
}

/** Whether a text can name a key: it has neither white space nor a plus sign. */
export function isKeyName(name: string): boolean {
  return name.isWellFormed() && /^[^\s\p{Cc}\p{Z}+]+$/u.test(name);
}

/** The vkey of a signer: what others need to verify its signatures. */
export function encodeVerifierKey({ name, privateKey }: Signer): string {
  const { x } = createPublicKey(privateKey).export({ format: "jwk" });
  const material = Buffer.concat([Buffer.of(ED25519), Buffer.from(x!, "base64url")]);
  return `${name}+${keyId(name, material).toString("hex")}+${material.toString("base64")}`;
}

/** Decodes a vkey of an Ed25519 key. Throws `VerifierKeyError`. */
export function decodeVerifierKey(vkey: string): VerifierKey {
  // Base64 may have plus signs, too.
  const [, name, id, encoded] = /^([^+]*)\+([^+]*)\+(.*)$/s.exec(vkey.trim()) ?? [];
  const material = Buffer.from(encoded ?? "", "base64");
  const [type] = material;
  if (
    name === undefined || !isKeyName(name) || material.toString("base64") !== encoded ||
    material.length !== 33 || type !== ED25519 && type !== ED25519_COSIGNATURE ||
    keyId(name, material).toString("hex") !== id
  ) {
    throw new VerifierKeyError(`${JSON.stringify(vkey.trim())} is not the vkey of an Ed25519 key`);
  }
  const x = material.subarray(1).toString("base64url");
  const publicKey = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return { name, id: Buffer.from(id, "hex"), type, publicKey };
}

/** Signs a text, which must end in a line feed. Returns the note. */
export function signNote(text: string, signer: Signer): string {
  const { id } = decodeVerifierKey(encodeVerifierKey(signer));
  const signature = sign(null, Buffer.from(text), signer.privateKey);
  const encoded = Buffer.concat([id, signature]).toString("base64");
  return `${text}\n— ${signer.name} ${encoded}\n`;
}

/** The text of a note that the key has signed. Throws `NoteError`. */
export function openNote(note: string, key: VerifierKey): string {
  const end = note.lastIndexOf("\n\n");
  if (end === -1 || !note.endsWith("\n")) throw new NoteError("It is not a signed note");
  const text = note.slice(0, end + 1);
  const lines = note.slice(end + 2).split("\n").slice(0, -1);
  const signatures = lines.map((line) => isSignedBy(key, line, text));
  if (signatures.includes(false)) {
    throw new NoteError(`Its signature by ${key.name} is not valid`);
  }
  if (signatures.includes(true)) return text;
  throw new NoteError(`It is not signed by the key ${key.name}+${key.id.toString("hex")}`);
}

/**
 * Whether the signature of a line is valid; `undefined` if the line is not by that key. For a witness, this is its
 * cosignature (https://c2sp.org/tlog-cosignature).
 */
export function isSignedBy(key: VerifierKey, line: string, text: string): boolean | undefined {
  const signature = parseSignatureLine(line);
  if (signature?.name !== key.name || !signature.id.equals(key.id)) return undefined;
  const { bytes } = signature;
  if (key.type === ED25519) return verifyEd25519(key, text, bytes);
  if (bytes.length !== COSIGNATURE_BYTES) return false;
  const message = `cosignature/v1\ntime ${bytes.readBigUInt64BE(0)}\n${text}`;
  return verifyEd25519(key, message, bytes.subarray(TIMESTAMP_BYTES));
}

/** The parts of a signature line; `undefined` if the line is not one. */
export function parseSignatureLine(
  line: string,
): { name: string; id: Buffer; bytes: Buffer } | undefined {
  const [, name, encoded] = /^— (\S+) ([A-Za-z0-9+/]+={0,2})$/.exec(line) ?? [];
  if (name === undefined || !isKeyName(name)) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  if (bytes.toString("base64") !== encoded || bytes.length <= KEY_ID_BYTES) return undefined;
  return { name, id: bytes.subarray(0, KEY_ID_BYTES), bytes: bytes.subarray(KEY_ID_BYTES) };
}

function verifyEd25519({ publicKey }: VerifierKey, text: string, signature: Buffer): boolean {
  return signature.length === ED25519_BYTES &&
    verify(null, Buffer.from(text), publicKey, signature);
}

function keyId(name: string, material: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(`${name}\n`), material]);
  return Buffer.from(hash("sha256", content, "hex"), "hex").subarray(0, KEY_ID_BYTES);
}
