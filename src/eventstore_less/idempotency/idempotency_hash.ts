/** The name that the log gives to an Idempotency-Key. */

import { hmacSha256Hex, sha256Hex } from "../encoding/sha256.ts";

/** Number of digits that the hashes of all parts of a key share. */
const SHARED_DIGITS = 32;

/** A key with which a command can be repeated. */
export interface Idempotency {
  /** Within 24 hours, a command of the same actor with this key gets the events of the first one. */
  key: string;
  /** Makes the key unknown to the readers of a log that is published: the log has the HMAC under it, else the SHA-256. */
  secret?: string;
  /** Names one of several commands with this key, for example those of one request. */
  part?: string;
}

/** The hash in hexadecimal digits. Those of all parts of a key begin with the {@linkcode sharedDigitsOf} of its hash. */
export function idempotencyHash({ key, secret, part }: Idempotency): string {
  const hash = hashOf(key, secret);
  if (part === undefined) return hash;
  return sharedDigitsOf(hash) + hashOf(`${key}\n${part}`, secret).slice(SHARED_DIGITS);
}

/** The first digits of a hash, which say of which key it is. */
export function sharedDigitsOf(hash: string): string {
  return hash.slice(0, SHARED_DIGITS);
}

function hashOf(text: string, secret: string | undefined): string {
  return secret === undefined ? sha256Hex(text) : hmacSha256Hex(secret, text);
}
