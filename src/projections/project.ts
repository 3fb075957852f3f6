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

/**
 * The only projection function: returns the records that consecutive events add to the projections. The live
 * writer, the replay and the audit all use it, so they cannot diverge. Splitting the
 * events over several calls changes only which pets share a record.
 */
export function project(lines: readonly RecordedLine[]): ProjectionRecord[] {
  const pets = new PetTexts();
  const petsByStatus = new Map<PetStatus, PetTexts>();
  const records: ProjectionRecord[] = [];
  for (const { event, line } of lines) {
    switch (event.type) {
      case "PetCreated": {
        const { id, status } = event.data;
        // The data of the event is the text of the pet.
        const text = dataOf(line);
        pets.add(id, text);
        // A pet without a status is not in the list of any status: there is no default status.
        if (status !== undefined) textsOf(petsByStatus, status).add(id, text);
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
    ...pets.records(petKey),
    ...[...petsByStatus].flatMap(([status, texts]) =>
      texts.records((id) => petByStatusKey(status, id))
    ),
    ...records,
  ];
}

function textsOf(petsByStatus: Map<PetStatus, PetTexts>, status: PetStatus): PetTexts {
  let texts = petsByStatus.get(status);
  if (texts === undefined) petsByStatus.set(status, texts = new PetTexts());
  return texts;
}

/** Texts of pets in ascending order of their ids, to be packed into records. */
class PetTexts {
  #ids: number[] = [];
  #texts: Uint8Array[] = [];

  add(id: number, text: Uint8Array): void {
    this.#ids.push(id);
    this.#texts.push(text);
  }

  records(keyOf: (lastId: number) => ProjectionKey): ProjectionRecord[] {
    let end = 0;
    return packLines(this.#texts, PETS_RECORD_LIMIT_BYTES).map(({ count, value }) => {
      end += count;
      return { key: keyOf(this.#ids[end - 1]), value };
    });
  }
}
