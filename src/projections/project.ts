import { assertNever } from "../../events/assert_never.ts";
import {
  type PetEvent,
  petTextOf,
  type RecordedEvent,
  type RecordedLine,
} from "../../events/event.ts";
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
 * they remove; each record once, as it is after the last event. The live writer, the replay, the restore and the audit
 * all use it, so they cannot diverge. It depends on nothing but the events.
 */
export function project(lines: readonly RecordedLine[]): ProjectionRecord[] {
  /** The records of each pet, by their lists. */
  const pets = new Map<number, Map<string, ProjectionRecord>>();
  const records: ProjectionRecord[] = [];
  for (const recorded of lines) {
    const { event } = recorded;
    switch (event.type) {
      case "PetCreated":
      case "PetUpdated": {
        const { id } = event.data;
        const ofPet = pets.getOrInsertComputed(id, () => new Map());
        const write = (list: string, value?: Uint8Array) => {
          ofPet.set(list, { key: petKey(list, id), ...(value === undefined ? {} : { value }) });
        };
        for (const list of formerListsOf(event)) write(list);
        write(petListOf(event.data.status), petTextOf(recorded));
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
  return [...pets.values()].flatMap((lists) => [...lists.values()]).concat(records);
}

/** The list that a change takes the pet out of, if any. */
function formerListsOf({ type, data }: PetEvent): string[] {
  const status = type === "PetUpdated" ? data.previous.status : undefined;
  return status === undefined ? [] : [petListOf(status ?? undefined)];
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
