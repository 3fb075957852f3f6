import { assertNever } from "../../events/assert_never.ts";
import { dataOf, type RecordedLine } from "../../events/event.ts";
import type { PetStatus } from "../../events/pet.ts";
import { packLines } from "../encoding/pack_lines.ts";
import {
  IDEMPOTENCY_LIFETIME_MS,
  keyByTokenKey,
  petByIdempotencyKeyKey,
  petByStatusKey,
  petKey,
  PETS_RECORD_LIMIT_BYTES,
  type ProjectionKey,
  type ProjectionRecord,
} from "../keyspace.ts";
import { revocationOf } from "../log/api_keys.ts";
import { ServiceError } from "../service_error.ts";
import type { StoreEntry } from "../store/store.ts";

/**
 * The only projection function: returns the records that consecutive events add to the projections. The live
 * writer, the replay, the restore and the audit all use it, so they cannot diverge. Splitting the events over
 * several calls changes only which pets share a record.
 */
export function project(lines: readonly RecordedLine[]): ProjectionRecord[] {
  const pets: PetText[] = [];
  const records: ProjectionRecord[] = [];
  for (const { event, line } of lines) {
    switch (event.type) {
      case "PetCreated": {
        const { id, status } = event.data;
        // The data of the event is the text of the pet.
        pets.push({ id, status, text: dataOf(line) });
        if (event.idempotencyKey !== undefined) {
          const expiresAt = Date.parse(event.time) + IDEMPOTENCY_LIFETIME_MS;
          records.push({
            key: petByIdempotencyKeyKey(event.actor, event.idempotencyKey, event.position),
            value: JSON.stringify({ petId: id, expiresAt: new Date(expiresAt).toISOString() }),
            expiresAt,
          });
        }
        break;
      }
      case "ApiKeyIssued": {
        const { keyId, label, tokenHash, expiresAt, readOnly } = event.data;
        const value = JSON.stringify({ keyId, label, issuedAt: event.time, expiresAt, readOnly });
        records.push({ key: keyByTokenKey(tokenHash, event.position), value });
        break;
      }
      case "ApiKeyRevoked": {
        const { keyId, tokenHash } = event.data;
        const value = JSON.stringify({ keyId, ...revocationOf(event) });
        records.push({ key: keyByTokenKey(tokenHash, event.position), value });
        break;
      }
      default:
        assertNever(event);
    }
  }
  return [
    ...packPets(pets, petKey),
    ...[...Map.groupBy(pets, ({ status }) => status)].flatMap(([status, ofStatus]) =>
      // The service does not assume a status, so a pet without one has no entry in this index.
      status === undefined ? [] : packPets(ofStatus, (lastId) => petByStatusKey(status, lastId))
    ),
    ...records,
  ];
}

interface PetText {
  id: number;
  status: PetStatus | undefined;
  text: Uint8Array;
}

/** Packs pets in ascending order of their ids into records. */
function packPets(pets: PetText[], keyOf: (lastId: number) => ProjectionKey): ProjectionRecord[] {
  let end = 0;
  return packLines(pets.map(({ text }) => text), PETS_RECORD_LIMIT_BYTES)
    .map(({ count, value }) => {
      end += count;
      return { key: keyOf(pets[end - 1].id), value };
    });
}

/** Decodes the JSON of a record that {@linkcode project} made. Throws `projection_damaged`. */
export function decodeRecord({ key, value }: StoreEntry) {
  try {
    return JSON.parse(value as string);
  } catch {
    const message = `A record of the projection ${String(key[2])} cannot be decoded`;
    throw new ServiceError("projection_damaged", message);
  }
}
