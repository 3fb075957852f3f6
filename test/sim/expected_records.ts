import type { Key } from "../../src/store/store.ts";
import type { CommittedLine } from "./oracle.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

/** When the Idempotency-Key of an event expires, in milliseconds since the Unix epoch. */
export function idempotencyKeyExpiresAt({ event }: CommittedLine): number {
  return Date.parse(event.time) + DAY_MS;
}

/**
 * A second implementation of project(): the records that lines imply. A record is named by its key as JSON, without
 * the generation.
 */
export class ExpectedRecords {
  /** The text of each record, and when the store may remove it. */
  readonly all = new Map<string, { text: string; expiresAt?: number }>();
  /** The records of each pet. */
  #ofPets = new Map<number, string[]>();

  /** Adds what a line implies. Returns the names of the records that it sets and removes. */
  add(line: CommittedLine): string[] {
    const { event: { type, data, time, actor, idempotencykey }, position, petText = "" } = line;
    const names: string[] = [];
    const set = (key: Key, text: string, expiresAt?: number) => {
      names.push(JSON.stringify(key));
      this.all.set(names.at(-1)!, { text, expiresAt });
    };
    if (idempotencykey !== undefined) {
      const ms = idempotencyKeyExpiresAt(line);
      const text = JSON.stringify({ expiresAt: new Date(ms).toISOString() });
      set(["event_by_idempotency_key", actor, idempotencykey, position], text, ms);
    }
    if (type === "ApiKeyIssued") {
      const { keyId, label, expiresAt, readOnly, tokenHash } = data;
      const text = JSON.stringify({ keyId, label, issuedAt: time, expiresAt, readOnly });
      set(["key_by_token", tokenHash, position], text);
    } else if (type === "ApiKeyRevoked") {
      const { keyId, tokenHash, effectiveAt } = data;
      const isAtOnce = Date.parse(effectiveAt) <= Date.parse(time);
      const text = JSON.stringify({ keyId, revokedAt: effectiveAt, isAtOnce });
      set(["key_by_token", tokenHash, position], text);
    } else {
      const { id, status = "none" } = data;
      const former = this.#ofPets.get(id) ?? [];
      names.push(...former);
      for (const name of former) this.all.delete(name);
      // The parsed number of a large category is not exact.
      const [, category] = /,"categoryId":(-?\d+)/.exec(petText)!;
      set(["pet", status, id], `${position}${petText}`);
      set(["pet_by_category", category, status, id], `${position}${petText}`);
      this.#ofPets.set(id, names.slice(-2));
    }
    return names;
  }
}
