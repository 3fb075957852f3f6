/** The file of the private key that signs the published log: Ed25519 in PKCS #8 PEM. */

import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";

/** Permission bits of group and others. */
const OTHERS = 0o077;

/** Makes a key in a new file that only its owner can read. */
export async function makeSigningKey(path: string): Promise<void> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await Deno.writeTextFile(path, pem, { createNew: true, mode: 0o600 }).catch((error) => {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    throw new Error(`${path} exists already; a key is never overwritten`);
  });
}

/** Reads the key. No message contains any of it. */
export async function readSigningKey(path: string): Promise<KeyObject> {
  const { mode } = await Deno.stat(path);
  if (mode !== null && (mode & OTHERS) !== 0) {
    throw new Error(`Others can read the key ${path}; run chmod 600 ${path}`);
  }
  const pem = await Deno.readTextFile(path);
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The message could contain a part of the file.
  }
  if (key?.asymmetricKeyType === "ed25519") return key;
  throw new Error(`${path} is not an Ed25519 key in PEM, as publish --new-key makes it`);
}
