/** API keys: their text, and what is known of one. */

import { encodeHex } from "@std/encoding/hex";
import { sha256Hex } from "./sha256.ts";

/** What the projections know of an API key. Times are milliseconds since the Unix epoch. */
export interface ApiKey {
  id: string;
  label: string;
  tokenHash: string;
  issuedAt: number;
  expiresAt?: number;
  /** From when on the key is refused; may lie ahead where the key was rotated. */
  revokedAt?: number;
  /** Whether it was revoked at once: the log alone says so, and no clock is asked. */
  isRevoked?: true;
}

export type ApiKeyState = "live" | "expired" | "revoked";

export function stateOf(key: ApiKey, now: number): ApiKeyState {
  if (key.isRevoked) return "revoked";
  if (key.revokedAt !== undefined && key.revokedAt <= now) return "revoked";
  if (key.expiresAt !== undefined && key.expiresAt <= now) return "expired";
  return "live";
}

const PREFIX = "pets_";
const SECRET_BYTES = 32;
const CHECKSUM_DIGITS = 8;
const TOKEN_PATTERN = /^pets_[0-9a-f]{72}$/;

/** The text of a new key: `pets_`, 32 random bytes in hex, and the start of the SHA-256 of all that. */
export function newToken(randomBytes: (length: number) => Uint8Array): string {
  const body = PREFIX + encodeHex(randomBytes(SECRET_BYTES));
  return body + checksumOf(body);
}

/** Whether a text can be a key at all: finds typing errors without asking the store. */
export function isToken(text: string): boolean {
  return TOKEN_PATTERN.test(text) &&
    checksumOf(text.slice(0, -CHECKSUM_DIGITS)) === text.slice(-CHECKSUM_DIGITS);
}

function checksumOf(body: string): string {
  return sha256Hex(body).slice(0, CHECKSUM_DIGITS);
}
