/** The life of an API key, as the events of the log decide it. */

import type { ApiKeyIssuedData, ApiKeyRevokedData } from "../../events/api_key.ts";

/** An API key. Times are milliseconds since the Unix epoch. */
export interface ApiKey {
  id: string;
  label: string;
  tokenHash: string;
  /** Position of its last event. */
  position: number;
  issuedAt: number;
  expiresAt?: number;
  /** Whether the key must not write pets. */
  isReadOnly?: true;
  /** When the key stops being valid; may be in the future if the key was rotated. */
  revokedAt?: number;
  /** Whether the key was revoked immediately. The log alone decides this, independently of any clock. */
  isRevoked?: true;
}

/** The key that the event at that position issues at that time. */
export function issuedApiKey(data: ApiKeyIssuedData, issuedAt: string, position: number): ApiKey {
  const { keyId: id, label, tokenHash, expiresAt, readOnly } = data;
  const apiKey: ApiKey = { id, label, tokenHash, position, issuedAt: Date.parse(issuedAt) };
  if (expiresAt !== undefined) apiKey.expiresAt = Date.parse(expiresAt);
  if (readOnly) apiKey.isReadOnly = true;
  return apiKey;
}

/** When a key is refused: with `isAtOnce` on every instance at once, even if its clock is behind the revoker's. */
export function revocationOf(event: { data: ApiKeyRevokedData; time: string }) {
  const { effectiveAt } = event.data;
  return { revokedAt: effectiveAt, isAtOnce: Date.parse(effectiveAt) <= Date.parse(event.time) };
}

/** Adds a revocation to a key. The last one applies, which the service never writes with a later effect. */
export function revoke(apiKey: ApiKey, { revokedAt, isAtOnce }: ReturnType<typeof revocationOf>) {
  apiKey.revokedAt = Date.parse(revokedAt);
  if (isAtOnce) apiKey.isRevoked = true;
}

export type ApiKeyState = "live" | "expired" | "revoked";

export function stateOf(apiKey: Partial<ApiKey>, now: number): ApiKeyState {
  const { isRevoked, revokedAt = Infinity, expiresAt = Infinity } = apiKey;
  if (isRevoked || revokedAt <= now) return "revoked";
  return expiresAt <= now ? "expired" : "live";
}
