/** The text of an API key, which only its owner has. */

import { sha256Hex } from "eventstore-less/parts";
import { Buffer } from "node:buffer";

const PREFIX = "pets_";
const SECRET_BYTES = 32;
const CHECKSUM_DIGITS = 8;
const TOKEN_PATTERN = /^pets_[0-9a-f]{72}$/;

/** A new key: `pets_`, 32 random bytes in hex, and the first 8 hex digits of the SHA-256 of both. */
export function newToken(randomBytes: (length: number) => Uint8Array): string {
  return withChecksum(PREFIX + Buffer.from(randomBytes(SECRET_BYTES)).toString("hex"));
}

/** Whether a text has the format and checksum of a key. This detects typing errors without a read of the store. */
export function isToken(text: string): boolean {
  return TOKEN_PATTERN.test(text) && withChecksum(text.slice(0, -CHECKSUM_DIGITS)) === text;
}

function withChecksum(body: string): string {
  return body + sha256Hex(body).slice(0, CHECKSUM_DIGITS);
}
