import type { ProjectionKey, RecordedLine } from "eventstore-less/definitions.ts";
import { VALUE_BYTES_LIMIT } from "eventstore-less/store/store.ts";
import { EVENTS, KINDS } from "eventstore-less/tables.ts";
import { DigestTable } from "./digest_table.ts";

/** The kinds of whose records only digests are kept, by the number of the subject. */
const KINDS_WITH_DIGESTS = [...KINDS.keys()].filter(hasDigests);

/** Whether a subject has at most one record of that kind, so that digests are enough. */
export function hasDigests(kind: string | number): boolean {
  return KINDS.get(kind as string)?.onePerSubject ?? false;
}

/**
 * The records that the lines so far make, of the kinds with `onePerSubject`: 16 bytes for each record, because a log may
 * make millions of them.
 */
export class RecordDigests {
  /** By kind and number of the subject. The value is the position of the event that wrote the record last. */
  #tables = newTables();

  /** Notes what the next event removes and writes. */
  note(recorded: RecordedLine): void {
    const { type, position } = recorded.event;
    for (const { key, content } of EVENTS[type].project(recorded)) {
      const table = this.#tables.get(key[0] as string);
      if (table === undefined) continue;
      const number = key.at(-1) as number;
      if (content === undefined) table.delete(number);
      else table.set(number, keyAndContent(key, content), position);
    }
  }

  has(key: ProjectionKey, content: Uint8Array): boolean {
    const table = this.#tables.get(key[0] as string);
    return table !== undefined && table.has(key.at(-1) as number, keyAndContent(key, content));
  }

  /** Position of the event that wrote the record of that kind and subject last; 0 if there is none. */
  positionOf([kind, ...elements]: ProjectionKey): number {
    return this.#tables.get(kind as string)?.valueAt(elements.at(-1) as number) ?? 0;
  }

  /** By kind: the positions of the events that wrote the records last. */
  *positions(): Generator<[kind: string, positions: Iterable<number>]> {
    for (const [kind, table] of this.#tables) yield [kind, table.values()];
  }

  /** Forgets all records. */
  clear(): void {
    this.#tables = newTables();
  }
}

function newTables() {
  return new Map(KINDS_WITH_DIGESTS.map((kind) => [kind, new DigestTable()]));
}

const encoder = new TextEncoder();

/** The input of the last digest. A new array for each of millions of records would take longer than their digests. */
const scratch = new Uint8Array(2 * VALUE_BYTES_LIMIT);

/**
 * The input of the digest of a record, valid until the next call. It lacks the kind and the number of the subject, which
 * its place in the tables says.
 */
export function keyAndContent(key: ProjectionKey, content: Uint8Array): Uint8Array {
  let text = "";
  for (const element of key.slice(1, -1)) {
    const elementText = String(element);
    text += `${elementText.length}:${elementText}`;
  }
  const { written } = encoder.encodeInto(text, scratch);
  scratch.set(content, written);
  return scratch.subarray(0, written + content.length);
}
