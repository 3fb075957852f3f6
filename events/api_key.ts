/** The data of the two events about API keys. An event contains only the SHA-256 of a key, never the key itself. */

import { Instant, Sha256Hex, Ulid } from "eventstore-less/encoding";
import { z } from "zod";

/** Longest `label` of a key, in UTF-16 code units. */
export const LABEL_MAX_LENGTH = 100;

export const ApiKeyLabel = z.string()
  .min(1, "must not be empty")
  .max(LABEL_MAX_LENGTH, `must be at most ${LABEL_MAX_LENGTH} characters long`)
  // A label is printed in a table on a terminal, so it must not contain line breaks or control sequences.
  .regex(/^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]*$/u, "must not contain control characters");

/** Without `expiresAt`, the key does not expire. With `readOnly`, it must not write pets. */
export const ApiKeyIssuedData = z.strictObject({
  keyId: Ulid,
  label: ApiKeyLabel,
  tokenHash: Sha256Hex,
  expiresAt: Instant.optional(),
  readOnly: z.literal(true).optional(),
});
export type ApiKeyIssuedData = z.infer<typeof ApiKeyIssuedData>;

/** The key is refused from `effectiveAt` on: the time of the event, or later if the key was rotated. */
export const ApiKeyRevokedData = z.strictObject({
  keyId: Ulid,
  tokenHash: Sha256Hex,
  effectiveAt: Instant,
});
export type ApiKeyRevokedData = z.infer<typeof ApiKeyRevokedData>;

export type ApiKeyEventBody =
  | { type: "ApiKeyIssued"; data: ApiKeyIssuedData }
  | { type: "ApiKeyRevoked"; data: ApiKeyRevokedData };
