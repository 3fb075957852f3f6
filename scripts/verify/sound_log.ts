/** The digest of a log that an audit keeps: 16 bytes for each subject, and up to 26 for each event, instead of the records. */

import type { ProjectionKey, ProjectionRecord, RecordedLine } from "eventstore-less/definitions.ts";
import { Buffer } from "node:buffer";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { IDEMPOTENCY_KIND } from "eventstore-less/keyspace.ts";
import { readLog } from "eventstore-less/log/read_log.ts";
import { EVENT_TYPES, EVENTS, KINDS } from "eventstore-less/tables.ts";
import { project } from "eventstore-less/projections/project.ts";
import { formatKey } from "eventstore-less/store/key_encoding.ts";
import type { Store } from "eventstore-less/store/store.ts";
import { DigestTable } from "./digest_table.ts";
import { LogVerifier } from "./log_verifier.ts";
import { bitsOf, MissingRecords } from "./missing_records.ts";

/** By the types of events: the bits of the kinds of records that an event leaves of its subject. */
const LEFT_BITS = Object.fromEntries(
  EVENT_TYPES.map((type) => [type, bitsOf(EVENTS[type].leaves?.kinds ?? [])]),
);

interface KeptRecord {
  key: ProjectionKey;
  content: Uint8Array;
  position: number;
}

/** The sound lines of a log: which records follow from them, and from which event each one does. */
export class SoundLog {
  /** Has the digests of what events leave of their subjects, because it needs them to verify the lines. */
  readonly verifier = new LogVerifier();
  /** By the positions of the events: the bits of the kinds of records that each one has left. */
  #leftBits = new GrowingTable();
  /** The records that no event type names in `leaves`, by their keys as texts. A log has few. */
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
      this.#leftBits.set(position, LEFT_BITS[type]);
      const leavesAll = EVENTS[type].leaves !== undefined && idempotencyKey === undefined;
      if (leavesAll) continue;
      for (const record of project([recorded])) this.#keep(record, position);
    }
  }

  #keep({ key, content, expiresAt = Infinity }: ProjectionRecord, position: number): void {
    const [kind] = key;
    if (isLeftKind(kind)) return;
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
    if (isLeftKind(kind)) {
      return this.verifier.subjects.lastPositionOf(collectionOf(kind), number);
    }
    return this.#kept.get(formatKey(key))?.position ?? 0;
  }

  /** Whether the log makes a record of that key and content. */
  makes(key: ProjectionKey, content: Uint8Array): boolean {
    const [kind] = key;
    const number = key.at(-1) as number;
    if (kind === IDEMPOTENCY_KIND) {
      return this.#idempotencyKeys.has(number, keyAndContent(key, content));
    }
    if (isLeftKind(kind)) {
      const { isAt } = KINDS.get(kind as string)!;
      const hasLeft = this.verifier.subjects.hasLeft(collectionOf(kind), number, content);
      return hasLeft && isAt!(key, content);
    }
    const record = this.#kept.get(formatKey(key));
    return record !== undefined && bytesEqual(content, record.content);
  }

  /** All records that follow from the log. */
  allRecords(): MissingRecords {
    const { subjects, position: last } = this.verifier;
    const records = new MissingRecords(last);
    for (const position of subjects.lastPositions()) {
      records.add(this.#leftBits.at(position), position);
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

/** Whether events leave records of that kind of their subjects, so that their digests are enough. */
function isLeftKind(kind: string | number): boolean {
  return KINDS.get(kind as string)?.isAt !== undefined;
}

function collectionOf(kind: string | number): string {
  return KINDS.get(kind as string)!.collection;
}

function keyAndContent(key: ProjectionKey, content: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(formatKey(key)), content]);
}

/** Two bytes for each number from 0 on, for as many numbers as were set. */
class GrowingTable {
  #values = new Uint16Array(1_024);

  set(number: number, value: number): void {
    if (number >= this.#values.length) {
      const larger = new Uint16Array(Math.max(number + 1, 2 * this.#values.length));
      larger.set(this.#values);
      this.#values = larger;
    }
    this.#values[number] = value;
  }

  at(number: number): number {
    return this.#values[number];
  }
}
