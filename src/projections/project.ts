import { assertNever } from "../../events/assert_never.ts";
import type { RecordedEvent } from "../../events/event.ts";
import { encodePet } from "../../events/pet.ts";
import { encodeUtf8Pooled } from "../encoding/encode_utf8_pooled.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../log/idempotency_lifetime.ts";
import {
  keyByTokenKey,
  petByIdempotencyKeyKey,
  petByStatusKey,
  petKey,
  type ProjectionRecord,
} from "../keyspace.ts";

/**
 * The only projection function: returns the records that an event adds to the projections. The live writer,
 * the replay and the audit all use it, so they cannot diverge. No record depends on another event.
 */
export function project(event: RecordedEvent): ProjectionRecord[] {
  switch (event.type) {
    case "PetCreated": {
      const { id, status } = event.data;
      const value = encodeUtf8Pooled(encodePet(event.data));
      const records: ProjectionRecord[] = [{ key: petKey(id), value }];
      // A pet without a status is not in the list of any status: there is no default status.
      if (status !== undefined) records.push({ key: petByStatusKey(status, id), value });
      if (event.idempotencyKey !== undefined) {
        const expiresAt = Date.parse(event.time) + IDEMPOTENCY_LIFETIME_MS;
        records.push({
          key: petByIdempotencyKeyKey(event.actor, event.idempotencyKey, event.position),
          value: JSON.stringify({ petId: id, expiresAt: new Date(expiresAt).toISOString() }),
          expiresAt,
        });
      }
      return records;
    }
    case "ApiKeyIssued": {
      const { keyId, label, tokenHash, expiresAt } = event.data;
      const value = JSON.stringify({ keyId, label, issuedAt: event.time, expiresAt });
      return [{ key: keyByTokenKey(tokenHash, event.position), value }];
    }
    case "ApiKeyRevoked": {
      const { keyId, tokenHash, effectiveAt } = event.data;
      // An immediate revocation applies on every instance, even if its clock is behind the revoker's.
      const isAtOnce = Date.parse(effectiveAt) <= Date.parse(event.time);
      const value = JSON.stringify({ keyId, revokedAt: effectiveAt, isAtOnce });
      return [{ key: keyByTokenKey(tokenHash, event.position), value }];
    }
    default:
      return assertNever(event);
  }
}
