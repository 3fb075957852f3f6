import type {
  ProjectionKey,
  ProjectionRecord,
  RecordedEvent,
  RecordedLine,
} from "eventstore-less/definitions.ts";
import { Column } from "eventstore-less/projections/column.ts";
import { VALUE_BYTES_LIMIT } from "eventstore-less/store/store.ts";
import { COLUMN_KINDS, COLUMNS, EVENTS, KINDS } from "eventstore-less/tables.ts";
import { DigestTable } from "./digest_table.ts";

/** The kinds for which digests are kept, by the number at the end of the key. */
const KINDS_WITH_DIGESTS = [...KINDS.keys(), ...COLUMN_KINDS].filter(hasDigests);

/** Whether each number has at most one record of that kind, so that a digest is enough. */
export function hasDigests(kind: string | number): boolean {
  const name = String(kind);
  return COLUMN_KINDS.includes(name) || (KINDS.get(name)?.onePerSubject ?? false);
}

/** A record of a block, and the position of the event that wrote it. */
interface WrittenBlock {
  record: ProjectionRecord;
  position: number;
}

/**
 * What the lines so far make. Of each block, and of each record of a kind with `onePerSubject`, it keeps a digest of 16
 * bytes, because there may be millions. It keeps the columns, and the last record of each block.
 */
export class RecordDigests {
  /** By kind and number. The value is the position of the event that wrote the record last. */
  #tables = newTables();
  #columns = COLUMNS.map((definition) => new Column(definition));
  /** The last record of each block, by its key as a text. */
  #blocks = new Map<string, WrittenBlock>();

  /** Notes what the next event removes and writes. */
  note(recorded: RecordedLine): void {
    const { event } = recorded;
    for (const record of EVENTS[event.type].project(recorded)) this.#note(record, event);
    // After a line that is not the next one, the log has a fault, so nobody asks for blocks.
    this.#columns = this.#columns.filter((column) => column.isNext(event));
    for (const column of this.#columns) {
      const record = column.add(event);
      if (record === undefined) continue;
      this.#note(record, event);
      this.#blocks.set(record.key.join(), { record, position: event.position });
    }
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

  /**
   * The records of blocks that the events between two positions stored. It leaves out those that a later event, even after
   * `last`, has stored again.
   */
  blocksWrittenBetween(first: number, last: number): ProjectionRecord[] {
    return [...this.#blocks.values()]
      .filter(({ position }) => position >= first && position <= last)
      .map(({ record }) => record);
  }

  /** Copies of the columns after the lines so far. Later events can be added to them. */
  copyColumns(): Column[] {
    return this.#columns.map((column) => column.copy());
  }

  /** Forgets all records, and stops following the columns: a block depends on all lines, and some are lost. */
  clear(): void {
    this.#tables = newTables();
    this.#columns = [];
    this.#blocks.clear();
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
