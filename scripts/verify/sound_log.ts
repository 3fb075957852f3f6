/**
 * What an audit keeps in memory instead of the records. That is 8 bytes for each subject, 16 for each of its records and
 * for each Idempotency-Key, and 2 for each event. A subject in a column has 4 bytes there, and 3 in its block.
 */

import type { ProjectionKey, ProjectionRecord, RecordedLine } from "eventstore-less/definitions.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { IDEMPOTENCY_KIND } from "eventstore-less/keyspace.ts";
import { readLog } from "eventstore-less/log/read_log.ts";
import { COLLECTIONS, EVENTS } from "eventstore-less/tables.ts";
import { project } from "eventstore-less/projections/project.ts";
import { formatKey } from "eventstore-less/store/key_encoding.ts";
import type { Store } from "eventstore-less/store/store.ts";
import { DigestTable } from "./digest_table.ts";
import { LogVerifier } from "./log_verifier.ts";
import { bitsOf, MissingRecords } from "./missing_records.ts";
import { hasDigests, keyAndContent } from "./record_digests.ts";

/** The collections that have only records of which digests are enough. */
const COLLECTIONS_WITH_DIGESTS = new Set(
  COLLECTIONS.filter(({ kinds }) => Object.keys(kinds).every(hasDigests)).map(({ name }) => name),
);

interface KeptRecord {
  key: ProjectionKey;
  content: Uint8Array;
  position: number;
}

/** The sound lines of a log: which records follow from them, and from which event each one does. */
export class SoundLog {
  /** Has the digests of records, because it needs them to verify the lines. */
  readonly verifier = new LogVerifier();
  /** The records of the other kinds, by their keys as texts. A log has few. */
  #kept = new Map<string, KeptRecord>();
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
      const { type, position, idempotencyKey } = recorded.event;
      const isDone = COLLECTIONS_WITH_DIGESTS.has(EVENTS[type].collection);
      if (isDone && idempotencyKey === undefined) continue;
      for (const record of project([recorded])) this.#keep(record, position);
    }
  }

  #keep({ key, content, expiresAt = Infinity }: ProjectionRecord, position: number): void {
    const [kind] = key;
    if (hasDigests(kind)) return;
    const name = formatKey(key);
    if (content === undefined) {
      this.#kept.delete(name);
      return;
    }
    if (kind !== IDEMPOTENCY_KIND) {
      this.#kept.set(name, { key, content, position });
      return;
    }
    // A table has no content for a value below 1, such as a time before 1970.
    const value = Math.max(1, expiresAt);
    this.#idempotencyKeys.set(position, keyAndContent(key, content), value);
  }

  /** Position of the event that wrote the record under a key last; 0 if none did. */
  positionOf(key: ProjectionKey): number {
    const [kind] = key;
    const number = key.at(-1) as number;
    if (kind === IDEMPOTENCY_KIND) return this.#idempotencyKeys.valueAt(number) === 0 ? 0 : number;
    if (hasDigests(kind)) return this.verifier.records.positionOf(key);
    return this.#kept.get(formatKey(key))?.position ?? 0;
  }

  /** Whether the log makes a record of that key and content. */
  makes(key: ProjectionKey, content: Uint8Array): boolean {
    const [kind] = key;
    if (kind === IDEMPOTENCY_KIND) {
      return this.#idempotencyKeys.has(key.at(-1) as number, keyAndContent(key, content));
    }
    if (hasDigests(kind)) return this.verifier.records.has(key, content);
    const record = this.#kept.get(formatKey(key));
    return record !== undefined && bytesEqual(content, record.content);
  }

  /** All records that follow from the log. */
  allRecords(): MissingRecords {
    const { records: digests, position: last } = this.verifier;
    const records = new MissingRecords(last);
    for (const [kind, positions] of digests.positions()) {
      const bit = bitsOf([kind]);
      for (const position of positions) records.add(bit, position);
    }
    for (const { key, position } of this.#kept.values()) {
      records.add(bitsOf([key[0] as string]), position);
    }
    const idempotencyBit = bitsOf([IDEMPOTENCY_KIND]);
    for (let position = 1; position <= last; position++) {
      if (this.#idempotencyKeys.valueAt(position) !== 0) records.add(idempotencyBit, position);
    }
    return records;
  }

  /** Whether the event at a position has an Idempotency-Key that has expired. The store may have removed its record. */
  isIdempotencyKeyExpired(time: number, position: number): boolean {
    const expiresAt = this.#idempotencyKeys.valueAt(position);
    return expiresAt !== 0 && expiresAt <= time;
  }
}
