import { assertNever } from "../../events/assert_never.ts";
import { petTextOf, type RecordedEvent, type RecordedLine } from "../../events/event.ts";
import { decodeJson, encodeJson } from "../encoding/json.ts";
import {
  eventByIdempotencyKeyKey,
  IDEMPOTENCY_LIFETIME_MS,
  keyByTokenKey,
  petKey,
  petListOf,
  type ProjectionRecord,
} from "../keyspace.ts";
import { revocationOf } from "../log/api_keys.ts";
import { ServiceError } from "../service_error.ts";
import type { StoreEntry } from "../store/store.ts";

/**
 * The only projection function: returns the records that consecutive events write to the projections, and those that
 * they remove; each record once, as it is after the last event. It depends on nothing but the events.
 */
export function project(lines: readonly RecordedLine[]): ProjectionRecord[] {
  const records: ProjectionRecord[] = [];
  let isChanged = false;
  for (const recorded of lines) {
    const { event } = recorded;
    switch (event.type) {
      case "PetUpdated": {
        isChanged = true;
        const { id, previous: { status } } = event.data;
        if (status !== undefined) records.push({ key: petKey(petListOf(status), id) });
      } // falls through
      case "PetCreated": {
        const { id, status } = event.data;
        records.push({ key: petKey(petListOf(status), id), value: petTextOf(recorded) });
        if (event.idempotencyKey !== undefined) records.push(idempotencyRecordOf(event));
        break;
      }
      case "ApiKeyIssued": {
        const { keyId, label, tokenHash, expiresAt, readOnly } = event.data;
        const value = encodeJson({ keyId, label, issuedAt: event.time, expiresAt, readOnly });
        records.push({ key: keyByTokenKey(tokenHash, event.position), value });
        break;
      }
      case "ApiKeyRevoked": {
        const { keyId, tokenHash } = event.data;
        const value = encodeJson({ keyId, ...revocationOf(event) });
        records.push({ key: keyByTokenKey(tokenHash, event.position), value });
        break;
      }
      default:
        assertNever(event);
    }
  }
  if (!isChanged) return records;
  return [...new Map(records.map((record) => [record.key.join(), record])).values()];
}

function idempotencyRecordOf({ actor, idempotencyKey, position, time }: RecordedEvent) {
  const expiresAt = Date.parse(time) + IDEMPOTENCY_LIFETIME_MS;
  return {
    key: eventByIdempotencyKeyKey(actor, idempotencyKey!, position),
    value: encodeJson({ expiresAt: new Date(expiresAt).toISOString() }),
    expiresAt,
  };
}

/** Decodes the JSON of a record that {@linkcode project} made. Throws `projection_damaged`. */
export function decodeRecord({ key, value }: StoreEntry) {
  try {
    return decodeJson(value);
  } catch {
    const message = `A record of the projection ${String(key[2])} cannot be decoded`;
    throw new ServiceError("projection_damaged", message);
  }
}
