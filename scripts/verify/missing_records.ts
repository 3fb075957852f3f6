import type { ProjectionKey } from "eventstore-less/keyspace.ts";

type RecordKind = ProjectionKey[0];

/** A bit for each kind of record: an event writes at most one record of a kind. */
const KIND_BITS: Record<string, number> = {
  pet: 1,
  pet_by_category: 2,
  removed_pet: 4,
  issued_key: 8,
  key_state: 16,
  event_by_idempotency_key: 32,
};

function bitOf(kind: RecordKind): number {
  const bit = KIND_BITS[kind];
  if (bit === undefined) throw new TypeError(`The kind ${kind} has no bit`);
  return bit;
}

/**
 * The records that follow from a log and were not found yet. A record is known by its kind and the position of the event
 * that wrote it last, in one byte for each event.
 */
export class MissingRecords {
  /** By the positions of the events: the bits of the kinds. */
  #kinds: Uint8Array;

  constructor(lastPosition: number) {
    this.#kinds = new Uint8Array(lastPosition + 1);
  }

  add(kind: RecordKind, position: number): void {
    this.#kinds[position] |= bitOf(kind);
  }

  remove(kind: RecordKind, position: number): void {
    this.#kinds[position] &= ~bitOf(kind);
  }

  has(kind: RecordKind, position: number): boolean {
    return (this.#kinds[position] & bitOf(kind)) !== 0;
  }

  /** Whether a record of any kind is missing that the event at a position wrote. */
  hasAnyAt(position: number): boolean {
    return this.#kinds[position] !== 0;
  }
}
