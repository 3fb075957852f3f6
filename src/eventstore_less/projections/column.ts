/**
 * A column: one short text for each subject of a collection, in the memory of each instance, to find subjects by it.
 * Blocks of it are stored, so that an instance need not read the whole log.
 */

import type { ProjectionRecord, RecordedEvent } from "../definitions.ts";
import { decodeJson, encodeJson } from "../../encoding/json.ts";
import { LINE_FEED } from "../../encoding/pack_lines.ts";
import { type ColumnEntry, EVENTS } from "../tables.ts";

/** The simulation makes both smaller. */
export const BLOCKS = {
  /** Number of subjects of a block, with consecutive numbers. */
  length: 1_024,
  /**
   * A block is stored with the event so many positions after the first one that changed it since it was stored last. So
   * the blocks and as many events of the log give the whole column.
   */
  storedAfter: 1_024,
};

/** A column keeps at most so many texts that no subject has any more, besides one for each place of a subject. */
const UNUSED_TEXTS_LIMIT = 1_024;

/** A subject of which no event is known, and one whose text was removed. Texts have higher codes. */
const UNKNOWN = 0;
const NONE = 1;

/** The line of JSON at the start of a record. */
interface BlockHead {
  /** Position of the event that stored the block. */
  position: number;
  texts: string[];
}

/** The bytes of a code in a record. */
const CODE_BYTES = 2;

/** The texts of the subjects after all events up to a position. */
export class Column {
  #definition: ColumnEntry;
  #position: number;
  /** The text of each code. */
  #texts = ["", ""];
  #codes = new Map<string, number>();
  /** The codes of the subjects, by their numbers. */
  #subjects = new Uint32Array(BLOCKS.length);
  /** By the numbers of the blocks: the position of the event that stored it last; 0 or absent if none did. */
  #storedAt: number[] = [];
  /** By the numbers of the blocks: whether an event has changed it since. */
  #isChanged: boolean[] = [];
  /** The blocks that the next events store, by their positions modulo `storedAfter`; 0 for an event that stores none. */
  #due = new Uint32Array(BLOCKS.storedAfter);

  /** An empty column, which gets the events after a position. */
  constructor(definition: ColumnEntry, position = 0) {
    this.#definition = definition;
    this.#position = position;
  }

  /** Position of the last event. */
  get position(): number {
    return this.#position;
  }

  /** Adds the next event. Returns the record that it writes. */
  add(event: RecordedEvent): ProjectionRecord | undefined {
    const [record] = this.recordsAfter([event]);
    this.#add(event);
    return record;
  }

  /** The records that the next events write, which are not added. None if other events are next. */
  recordsAfter(events: readonly RecordedEvent[]): ProjectionRecord[] {
    const isNext = events.at(0)?.position === this.#position + 1;
    if (!isNext) return [];
    // So many events may store a block that they are the first to change.
    if (events.length > BLOCKS.storedAfter) return this.copy().#addAll(events);
    const records: ProjectionRecord[] = [];
    for (const [index, { position }] of events.entries()) {
      const block = this.#due[position % BLOCKS.storedAfter];
      if (block !== 0) records.push(this.#recordOf(block, events.slice(0, index + 1)));
    }
    return records;
  }

  /** Adds the next events. Returns the records that they write, each once, as it is after the last event. */
  #addAll(events: readonly RecordedEvent[]): ProjectionRecord[] {
    const byBlock = new Map<unknown, ProjectionRecord>();
    for (const event of events) {
      const record = this.add(event);
      if (record !== undefined) byBlock.set(record.key.at(-1), record);
    }
    return [...byBlock.values()];
  }

  /**
   * Adds a stored block, before all events. Returns the position of the event that stored it; `undefined` if no column
   * can have written that content under that number.
   */
  addBlock(block: number, content: Uint8Array): number | undefined {
    const decoded = this.#decode(content);
    if (decoded === undefined) return undefined;
    const { position, codes } = decoded;
    // Each subject has an event of its own.
    const isPossible = Number.isSafeInteger(block) && block >= 1 && block <= blockOf(position);
    if (!isPossible) return undefined;
    this.#subjects = grown(this.#subjects, block * BLOCKS.length);
    this.#subjects.set(codes, (block - 1) * BLOCKS.length);
    this.#storedAt[block] = position;
    return position;
  }

  /** The first number up to `last` of a subject of which nothing is known. */
  firstUnknown(last: number): number | undefined {
    const known = this.#subjects.subarray(0, last);
    const index = known.indexOf(UNKNOWN);
    if (index !== -1) return index + 1;
    return known.length < last ? known.length + 1 : undefined;
  }

  /** The text of a subject, if it has one. */
  textOf(number: number): string | undefined {
    const code = this.#subjects[number - 1] ?? UNKNOWN;
    return code === UNKNOWN || code === NONE ? undefined : this.#texts[code];
  }

  /** The highest numbers of subjects with one of some texts, from `newest` down. */
  find(texts: readonly string[], { newest, limit }: { newest: number; limit: number }): number[] {
    const isWanted = new Uint8Array(this.#texts.length);
    for (const text of texts) {
      const code = this.#codes.get(text);
      if (code !== undefined) isWanted[code] = 1;
    }
    const found: number[] = [];
    if (!isWanted.includes(1)) return found;
    const subjects = this.#subjects;
    for (let number = Math.min(newest, subjects.length); number > 0; number--) {
      if (isWanted[subjects[number - 1]] === 0) continue;
      found.push(number);
      if (found.length === limit) break;
    }
    return found;
  }

  /** A copy, to which other events can be added. */
  copy(): Column {
    const copy = new Column(this.#definition, this.#position);
    copy.#texts = [...this.#texts];
    copy.#codes = new Map(this.#codes);
    copy.#subjects = this.#subjects.slice();
    copy.#storedAt = [...this.#storedAt];
    copy.#isChanged = [...this.#isChanged];
    copy.#due = this.#due.slice();
    return copy;
  }

  #add(event: RecordedEvent): void {
    const { position } = event;
    const slot = position % BLOCKS.storedAfter;
    const stored = this.#due[slot];
    this.#due[slot] = 0;
    this.#position = position;
    const changed = this.#changeSubject(event);
    if (changed !== undefined && this.#isChanged[changed] !== true) {
      this.#isChanged[changed] = true;
      this.#due[slot] = changed;
    }
    if (stored !== 0) {
      this.#storedAt[stored] = position;
      this.#isChanged[stored] = false;
    }
    if (this.#texts.length > this.#subjects.length + UNUSED_TEXTS_LIMIT) this.#forgetUnused();
  }

  /** Forgets the texts that no subject has any more: clients can change a subject to new ones without end. */
  #forgetUnused(): void {
    const texts = this.#texts;
    this.#texts = ["", ""];
    this.#codes.clear();
    for (const [index, code] of this.#subjects.entries()) {
      if (code !== UNKNOWN && code !== NONE) this.#subjects[index] = this.#codeOf(texts[code]);
    }
  }

  /** Changes the text of a subject. Returns the number of its block, unless the block already has the event. */
  #changeSubject(event: RecordedEvent): number | undefined {
    if (!this.#concerns(event)) return undefined;
    const number = numberOf(event);
    const block = blockOf(number);
    const isInBlock = event.position <= (this.#storedAt[block] ?? 0);
    const code = this.#codeAfter(event);
    if (isInBlock || this.#subjects[number - 1] === code) return undefined;
    this.#subjects = grown(this.#subjects, number);
    this.#subjects[number - 1] = code;
    return block;
  }

  #concerns({ type }: RecordedEvent): boolean {
    return EVENTS[type].collection === this.#definition.collection;
  }

  #codeAfter(event: RecordedEvent): number {
    const text = this.#definition.textAfter(event);
    return text === undefined ? NONE : this.#codeOf(text);
  }

  #codeOf(text: string): number {
    const known = this.#codes.get(text);
    if (known !== undefined) return known;
    const code = this.#texts.push(text) - 1;
    this.#codes.set(text, code);
    return code;
  }

  /** The record of a block after some events that are not added. */
  #recordOf(block: number, events: readonly RecordedEvent[]): ProjectionRecord {
    const first = (block - 1) * BLOCKS.length + 1;
    const codes = new Uint32Array(BLOCKS.length);
    codes.set(this.#subjects.subarray(first - 1, first - 1 + BLOCKS.length));
    for (const event of events) {
      if (!this.#concerns(event)) continue;
      const number = numberOf(event);
      if (blockOf(number) === block) codes[number - first] = this.#codeAfter(event);
    }
    const { position } = events.at(-1)!;
    return { key: [this.#definition.kind, block], content: this.#encode(position, codes) };
  }

  /** The content of a record: a line of JSON with its own list of texts, and then a code of that list for each subject. */
  #encode(position: number, codes: Uint32Array): Uint8Array {
    const count = codes.findLastIndex((code) => code !== UNKNOWN) + 1;
    const texts: string[] = [];
    const ownCodes = new Map([[UNKNOWN, UNKNOWN], [NONE, NONE]]);
    const bytes = new Uint8Array(CODE_BYTES * count);
    for (let index = 0; index < count; index++) {
      const code = codes[index];
      let ownCode = ownCodes.get(code);
      if (ownCode === undefined) {
        ownCode = ownCodes.size;
        ownCodes.set(code, ownCode);
        texts.push(this.#texts[code]);
      }
      bytes[2 * index] = ownCode >>> 8;
      bytes[2 * index + 1] = ownCode;
    }
    const head = encodeJson({ position, texts } satisfies BlockHead);
    const content = new Uint8Array(head.length + 1 + bytes.length);
    content.set(head);
    content[head.length] = LINE_FEED;
    content.set(bytes, head.length + 1);
    return content;
  }

  /** The parts of what #encode() made; `undefined` for any other content. */
  #decode(content: Uint8Array): { position: number; codes: Uint32Array } | undefined {
    const end = content.indexOf(LINE_FEED);
    const head = blockHeadOf(content.subarray(0, Math.max(0, end)));
    const bytes = content.subarray(end + 1);
    const count = bytes.length / CODE_BYTES;
    if (head === undefined || !Number.isInteger(count) || count > BLOCKS.length) return undefined;
    const { position, texts } = head;
    const codeOf = [UNKNOWN, NONE, ...texts.map((text) => this.#codeOf(text))];
    const codes = new Uint32Array(count);
    for (let index = 0; index < count; index++) {
      const ownCode = bytes[2 * index] << 8 | bytes[2 * index + 1];
      if (ownCode >= codeOf.length) return undefined;
      codes[index] = codeOf[ownCode];
    }
    return { position, codes };
  }
}

/** Checked by hand, because a schema takes half of the time of reading a column. */
function blockHeadOf(bytes: Uint8Array): BlockHead | undefined {
  const { position, texts } = tryDecodeJson(bytes) as Partial<BlockHead> ?? {};
  const isPosition = Number.isSafeInteger(position) && position! >= 1;
  const areTexts = Array.isArray(texts) && texts.every((text) => typeof text === "string");
  return isPosition && areTexts ? { position: position!, texts } : undefined;
}

function tryDecodeJson(bytes: Uint8Array): unknown {
  try {
    return decodeJson(bytes);
  } catch {
    return undefined;
  }
}

/** The number of the subject of an event of the collection. */
function numberOf({ type, data }: RecordedEvent): number {
  return EVENTS[type].id(data) as number;
}

/** The number of the block that has a subject, from 1 on. */
export function blockOf(number: number): number {
  return Math.ceil(number / BLOCKS.length);
}

/** An array that has place for a length, with what an array has. */
function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const larger = new Uint32Array(Math.max(length, 2 * array.length));
  larger.set(array);
  return larger;
}
