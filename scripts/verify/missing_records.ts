import { IDEMPOTENCY_KIND } from "eventstore-less/keyspace.ts";
import { KINDS } from "eventstore-less/tables.ts";

/** A bit for each kind of record: an event writes at most one record of a kind. */
const KIND_BITS = new Map(
  [...KINDS.keys(), IDEMPOTENCY_KIND].map((kind, index) => [kind, 1 << index]),
);

/** The bits of some kinds. */
export function bitsOf(kinds: readonly string[]): number {
  return kinds.reduce((bits, kind) => bits | KIND_BITS.get(kind)!, 0);
}

/**
 * The records that follow from a log and were not found yet. A record is known by its kind and the position of the event
 * that wrote it last, in two bytes for each event.
 */
export class MissingRecords {
  /** By the positions of the events: the bits of the kinds. */
  #kinds: Uint16Array;

  constructor(lastPosition: number) {
    this.#kinds = new Uint16Array(lastPosition + 1);
  }

  /** Adds records of some kinds, given by {@linkcode bitsOf}. */
  add(bits: number, position: number): void {
    this.#kinds[position] |= bits;
  }

  remove(kind: string, position: number): void {
    this.#kinds[position] &= ~bitsOf([kind]);
  }

  has(kind: string, position: number): boolean {
    return (this.#kinds[position] & bitsOf([kind])) !== 0;
  }

  /** Whether a record of any kind is missing that the event at a position wrote. */
  hasAnyAt(position: number): boolean {
    return this.#kinds[position] !== 0;
  }
}
