import type {
  ProjectionKey,
  ProjectionRecord,
  RecordedEvent,
  RecordedLine,
} from "eventstore-less/definitions.ts";
import { VALUE_BYTES_LIMIT } from "eventstore-less/store/store.ts";
import { EVENTS, KINDS } from "eventstore-less/tables.ts";
import { DigestTable } from "./digest_table.ts";

/** The kinds for which digests are kept, by the number at the end of the key. */
const KINDS_WITH_DIGESTS = [...KINDS.keys()].filter(hasDigests);

/** Whether each number has at most one record of that kind, so that a digest is enough. */
export function hasDigests(kind: string | number): boolean {
  return KINDS.get(String(kind))?.onePerSubject ?? false;
}

/**
 * What the lines so far make. Of each record of a kind with `onePerSubject`, it keeps a digest of 16 bytes, because there
 * may be millions.
 */
export class RecordDigests {
  /** By kind and number. The value is the position of the event that wrote the record last. */
  #tables = newTables();

  /** Notes what the next event removes and writes. */
  note(recorded: RecordedLine): void {
    const { event } = recorded;
    for (const record of EVENTS[event.type].project(recorded)) this.#note(record, event);
  }

  #note({ key, content }: ProjectionRecord, { position }: RecordedEvent): void {
    const table = this.#tables.get(key[0] as string);
    if (table === undefined) return;
    const number = key.at(-1) as number;
    if (content === undefined) table.delete(number);
    else table.set(number, keyAndContent(key, content), position);
  }

  has(key: ProjectionKey, content: Uint8Array): boolean {
    const table = this.#tables.get(key[0] as string);
    return table !== undefined && table.has(key.at(-1) as number, keyAndContent(key, content));
  }

  /** Position of the event that wrote the record of that kind and number last; 0 if there is none. */
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

/** The input of the last digest. One array serves all, because a new one for each record takes longer than the digest. */
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
