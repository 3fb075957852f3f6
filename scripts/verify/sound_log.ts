/** The digest of a log that an audit keeps: 16 bytes for each pet, and up to 24 for each event, instead of the records. */

import { Buffer } from "node:buffer";
import { isPetEvent, type RecordedLine } from "eventstore-less/log/event.ts";
import { categoryAndStatusOf } from "../../events/pet.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import {
  isApiKeyKind,
  isPetKind,
  petListOf,
  type ProjectionKey,
  type ProjectionRecord,
} from "eventstore-less/keyspace.ts";
import { lastPetIdOf } from "eventstore-less/log/head.ts";
import { readLog } from "eventstore-less/log/read_log.ts";
import { project, textIn } from "eventstore-less/projections/project.ts";
import { formatKey } from "eventstore-less/store/key_encoding.ts";
import type { Store } from "eventstore-less/store/store.ts";
import { DigestTable } from "./digest_table.ts";
import { LogVerifier } from "./log_verifier.ts";
import { MissingRecords } from "./missing_records.ts";

/** Keeps a byte order mark, which would be a difference. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

interface ApiKeyRecord {
  key: ProjectionKey;
  content: Uint8Array;
  position: number;
}

/** The sound lines of a log: which records follow from them, and from which event each one does. */
export class SoundLog {
  /** Has the digests of the records of pets, because it needs the pets to verify the lines. */
  readonly verifier = new LogVerifier();
  /** The records of API keys, by their keys as texts. A log has few. */
  #apiKeys = new Map<string, ApiKeyRecord>();
  /** The records of Idempotency-Keys, and when they expire, by the positions of their events. */
  #idempotencyKeys = new DigestTable();

  /** The next lines of a store, up to a position, in batches. Throws `UnsoundError` and `LogDamagedError`. */
  async *readTo(store: Store, to: number): AsyncGenerator<RecordedLine[]> {
    for await (const lines of readLog(store, { from: this.verifier.position + 1, to })) {
      const sound = lines.map(({ line }) =>
        this.verifier.expectSound(line, "; run deno task audit")
      );
      this.follow(sound);
      yield sound;
    }
  }

  /** Adds the next lines. Call it after the verifier has accepted them. */
  follow(lines: readonly RecordedLine[]): void {
    for (const recorded of lines) {
      const { event } = recorded;
      if (isPetEvent(event) && event.idempotencyKey === undefined) continue;
      for (const record of project([recorded])) this.#keep(record, event.position);
    }
  }

  #keep({ key, content, expiresAt = Infinity }: ProjectionRecord, position: number): void {
    if (content === undefined || isPetKind(key[0])) return;
    if (isApiKeyKind(key[0])) {
      this.#apiKeys.set(formatKey(key), { key, content, position });
      return;
    }
    // A table has no content for a value below 1, such as a time before 1970.
    const value = Math.max(1, expiresAt);
    this.#idempotencyKeys.set(position, keyAndContent(key, content), value);
  }

  /** Position of the event that wrote the record under a key last; 0 if none did. */
  positionOf(key: ProjectionKey): number {
    if (isApiKeyKind(key[0])) return this.#apiKeys.get(formatKey(key))?.position ?? 0;
    const number = key.at(-1) as number;
    if (isPetKind(key[0])) return this.verifier.pets.lastPositionOf(number);
    return this.#idempotencyKeys.valueAt(number) === 0 ? 0 : number;
  }

  /** Whether the log makes a record of that key and content. */
  makes(key: ProjectionKey, content: Uint8Array): boolean {
    if (isApiKeyKind(key[0])) {
      const record = this.#apiKeys.get(formatKey(key));
      return record !== undefined && bytesEqual(content, record.content);
    }
    if (key[0] === "removed_pet") return this.#makesRemoval(key, content);
    if (isPetKind(key[0])) return this.#makesPet(key, content);
    return this.#idempotencyKeys.has(key.at(-1) as number, keyAndContent(key, content));
  }

  #makesRemoval(key: ProjectionKey, content: Uint8Array): boolean {
    const { pets } = this.verifier;
    const id = key.at(-1) as number;
    return pets.isRemoved(id) && bytesEqual(content, Buffer.from(String(pets.lastPositionOf(id))));
  }

  #makesPet(key: ProjectionKey, content: Uint8Array): boolean {
    const { pets } = this.verifier;
    const id = key.at(-1) as number;
    if (!pets.hasText(id, textIn(content))) return false;
    const text = decoder.decode(content);
    const hasPosition = text.startsWith(`${pets.lastPositionOf(id)}{`);
    const { categoryId, status } = categoryAndStatusOf(text);
    const isOfList = key.at(-2) === petListOf(status);
    const isOfCategory = key[0] === "pet" || key[1] === categoryId;
    return hasPosition && isOfList && isOfCategory;
  }

  /** All records that follow from the log. */
  allRecords(): MissingRecords {
    const { pets, head } = this.verifier;
    const records = new MissingRecords(head.position);
    for (let id = 1; id <= lastPetIdOf(head); id++) {
      const position = pets.lastPositionOf(id);
      if (pets.isRemoved(id)) {
        records.add("removed_pet", position);
      } else {
        records.add("pet", position);
        records.add("pet_by_category", position);
      }
    }
    for (const { key, position } of this.#apiKeys.values()) records.add(key[0], position);
    for (let position = 1; position <= head.position; position++) {
      const hasKey = this.#idempotencyKeys.valueAt(position) !== 0;
      if (hasKey) records.add("event_by_idempotency_key", position);
    }
    return records;
  }

  /** Whether the event at a position has an Idempotency-Key that has expired. The store may have removed its record. */
  isIdempotencyKeyExpired(time: number, position: number): boolean {
    const expiresAt = this.#idempotencyKeys.valueAt(position);
    return expiresAt !== 0 && expiresAt <= time;
  }
}

function keyAndContent(key: ProjectionKey, content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(formatKey(key)), content]);
}
