/**
 * A column: one short text for each subject of a collection, by which subjects are found. It is in the memory of each
 * instance, and stored in blocks, so that an instance need not read the whole log.
 */

import type { ProjectionRecord, RecordedEvent } from "../definitions.ts";
import { decodeJson, encodeJson } from "../../encoding/json.ts";
import { LINE_FEED } from "../../encoding/pack_lines.ts";
import { type ColumnEntry, EVENTS } from "../tables.ts";

/** Tests and the simulation make both smaller. */
export const BLOCKS = {
  /** Number of subjects of a block, with consecutive numbers. */
  length: 1_024,
  /**
   * The first event that changes a block since it was stored, if it ever was, makes the block due. The event this many
   * positions later stores it, with its own change. So the blocks and this many last events give the whole column.
   */
  storedAfter: 1_024,
};

/** A column forgets unused texts when it has this many texts, or twice as many as were used the last time. */
const TEXTS_LIMIT = 65_536;

/**
 * The codes of subjects without a text: no event of the subject is known (`UNKNOWN`), or its last event left no text
 * (`NONE`). Texts have higher codes.
 */
const UNKNOWN = 0;
const NONE = 1;

/** The line of JSON at the start of a record. */
interface BlockHeader {
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
  #textByCode = ["", ""];
  #codeByText = new Map<string, number>();
  #textsLimit = TEXTS_LIMIT;
  /** The code of the subject with number 1 is the first one. */
  #codeBySubject = new Uint32Array(BLOCKS.length);
  /** By block: the position of the event that stored it last; absent if none did. */
  #storedAt: number[] = [];
  /** By block: whether an event has changed it since it was stored. */
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

  /** Number of different texts that are in memory. */
  get textCount(): number {
    return this.#codeByText.size;
  }

  /** Whether an event is the one that add() takes. */
  isNext({ position }: RecordedEvent): boolean {
    return position === this.#position + 1;
  }

  /** Adds the next event. Returns the record of the block that it stores, if any. */
  add(event: RecordedEvent): ProjectionRecord | undefined {
    if (!this.isNext(event)) {
      throw new Error(`Event ${event.position} does not follow position ${this.#position}`);
    }
    const [record] = this.recordsAfter([event]);
    this.#apply(event);
    return record;
  }

  /**
   * The records that the next events would write. Adds no event. Empty if the column has another next event: it is as of
   * a later head, so the commit of these events fails.
   */
  recordsAfter(events: readonly RecordedEvent[]): ProjectionRecord[] {
    if (events.length === 0 || !this.isNext(events[0])) return [];
    // With so many events, one may store a block that another of them has changed first.
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
   * Adds a stored block. Call it before `add()`. Returns the position of the event that stored the block; `undefined` if
   * no column can have written that content under that number.
   */
  addBlock(block: number, content: Uint8Array): number | undefined {
    const decoded = this.#decode(content);
    if (decoded === undefined) return undefined;
    const { position, codes } = decoded;
    // The subject with number N has at least one event, so N is at most the position.
    const isPossible = Number.isSafeInteger(block) && block >= 1 && block <= blockOf(position);
    if (!isPossible) return undefined;
    this.#codeBySubject = grown(this.#codeBySubject, block * BLOCKS.length);
    this.#codeBySubject.set(codes, (block - 1) * BLOCKS.length);
    this.#storedAt[block] = position;
    return position;
  }

  /** The number of the first subject, up to `last`, that is in no block and in no event; `undefined` if there is none. */
  firstUnknown(last: number): number | undefined {
    const known = this.#codeBySubject.subarray(0, last);
    const index = known.indexOf(UNKNOWN);
    if (index !== -1) return index + 1;
    return known.length < last ? known.length + 1 : undefined;
  }

  /** The text of a subject, if it has one. */
  textOf(number: number): string | undefined {
    const code = this.#codeBySubject[number - 1] ?? UNKNOWN;
    return code === UNKNOWN || code === NONE ? undefined : this.#textByCode[code];
  }

  /** The highest numbers of subjects with one of some texts, from `newest` down. */
  find(texts: readonly string[], { newest, limit }: { newest: number; limit: number }): number[] {
    const isWanted = new Uint8Array(this.#textByCode.length);
    for (const text of texts) {
      const code = this.#codeByText.get(text);
      if (code !== undefined) isWanted[code] = 1;
    }
    const found: number[] = [];
    if (!isWanted.includes(1)) return found;
    const codes = this.#codeBySubject;
    for (let number = Math.min(newest, codes.length); number > 0; number--) {
      if (isWanted[codes[number - 1]] === 0) continue;
      found.push(number);
      if (found.length === limit) break;
    }
    return found;
  }

  /** A copy that can get other events. */
  copy(): Column {
    const copy = new Column(this.#definition, this.#position);
    copy.#textByCode = [...this.#textByCode];
    copy.#codeByText = new Map(this.#codeByText);
    copy.#textsLimit = this.#textsLimit;
    copy.#codeBySubject = this.#codeBySubject.slice();
    copy.#storedAt = [...this.#storedAt];
    copy.#isChanged = [...this.#isChanged];
    copy.#due = this.#due.slice();
    return copy;
  }

  #apply(event: RecordedEvent): void {
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
    // Only now, because the record has the change of this event, too.
    if (stored !== 0) {
      this.#storedAt[stored] = position;
      this.#isChanged[stored] = false;
    }
    if (this.#codeByText.size >= this.#textsLimit) this.#forgetUnused();
  }

  /**
   * Changes the text of the subject of an event. Returns the number of its block; `undefined` if that changed nothing: the
   * event is of another collection, the block already has it, or the text is the same.
   */
  #changeSubject(event: RecordedEvent): number | undefined {
    if (!this.#concerns(event)) return undefined;
    const number = numberOf(event);
    const block = blockOf(number);
    const isInBlock = event.position <= (this.#storedAt[block] ?? 0);
    const code = this.#codeAfter(event);
    if (isInBlock || this.#codeBySubject[number - 1] === code) return undefined;
    this.#codeBySubject = grown(this.#codeBySubject, number);
    this.#codeBySubject[number - 1] = code;
    return block;
  }

  /**
   * Forgets the texts that no subject has any more. Otherwise a client could fill the memory by changing one subject again
   * and again.
   */
  #forgetUnused(): void {
    const formerTexts = this.#textByCode;
    this.#textByCode = ["", ""];
    this.#codeByText.clear();
    for (const [index, code] of this.#codeBySubject.entries()) {
      if (code === UNKNOWN || code === NONE) continue;
      this.#codeBySubject[index] = this.#codeOf(formerTexts[code]);
    }
    this.#textsLimit = Math.max(TEXTS_LIMIT, 2 * this.#codeByText.size);
  }

  #concerns({ type }: RecordedEvent): boolean {
    return EVENTS[type].collection === this.#definition.collection;
  }

  #codeAfter(event: RecordedEvent): number {
    const text = this.#definition.textAfter(event);
    return text === undefined ? NONE : this.#codeOf(text);
  }

  /** The code of a text. Gives it a new one if it has none. */
  #codeOf(text: string): number {
    const known = this.#codeByText.get(text);
    if (known !== undefined) return known;
    const code = this.#textByCode.push(text) - 1;
    this.#codeByText.set(text, code);
    return code;
  }

  /** The record of a block after events that are not added yet. */
  #recordOf(block: number, events: readonly RecordedEvent[]): ProjectionRecord {
    const first = (block - 1) * BLOCKS.length + 1;
    const codes = new Uint32Array(BLOCKS.length);
    codes.set(this.#codeBySubject.subarray(first - 1, first - 1 + BLOCKS.length));
    for (const event of events) {
      if (!this.#concerns(event)) continue;
      const number = numberOf(event);
      if (blockOf(number) === block) codes[number - first] = this.#codeAfter(event);
    }
    const { position } = events.at(-1)!;
    return { key: [this.#definition.kind, block], content: this.#encode(position, codes) };
  }

  /** The content of a record: a line of JSON with the texts of the block, and then a code for each subject. */
  #encode(position: number, codes: Uint32Array): Uint8Array {
    const count = codes.findLastIndex((code) => code !== UNKNOWN) + 1;
    const { texts, ownCodes } = this.#renumbered(codes.subarray(0, count));
    const header = encodeJson({ position, texts } satisfies BlockHeader);
    const start = header.length + 1;
    const content = new Uint8Array(start + CODE_BYTES * count);
    content.set(header);
    content[header.length] = LINE_FEED;
    const view = new DataView(content.buffer, start);
    for (const [index, code] of ownCodes.entries()) view.setUint16(CODE_BYTES * index, code);
    return content;
  }

  /** The texts of some codes, each once, and codes that count these texts. */
  #renumbered(codes: Uint32Array): { texts: string[]; ownCodes: Uint16Array } {
    const texts: string[] = [];
    const ownCodeOf = new Map([[UNKNOWN, UNKNOWN], [NONE, NONE]]);
    const ownCodes = new Uint16Array(codes.length);
    for (const [index, code] of codes.entries()) {
      if (!ownCodeOf.has(code)) {
        ownCodeOf.set(code, ownCodeOf.size);
        texts.push(this.#textByCode[code]);
      }
      ownCodes[index] = ownCodeOf.get(code)!;
    }
    return { texts, ownCodes };
  }

  /** The parts of what #encode() made; `undefined` for any other content. */
  #decode(content: Uint8Array): { position: number; codes: Uint32Array } | undefined {
    const end = content.indexOf(LINE_FEED);
    if (end === -1) return undefined;
    const header = headerOf(content.subarray(0, end));
    const bytes = content.subarray(end + 1);
    const count = bytes.length / CODE_BYTES;
    if (header === undefined || !Number.isInteger(count) || count > BLOCKS.length) return undefined;
    const { position, texts } = header;
    const codeOf = [UNKNOWN, NONE, ...texts.map((text) => this.#codeOf(text))];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const codes = new Uint32Array(count);
    for (let index = 0; index < count; index++) {
      const ownCode = view.getUint16(CODE_BYTES * index);
      if (ownCode >= codeOf.length) return undefined;
      codes[index] = codeOf[ownCode];
    }
    return { position, codes };
  }
}

/** Checked by hand: a schema would take half of the time of reading a column. */
function headerOf(bytes: Uint8Array): BlockHeader | undefined {
  const parsed = tryDecodeJson(bytes) as Partial<BlockHeader> | null | undefined;
  const { position, texts } = parsed ?? {};
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

/** The array itself if it is long enough; otherwise a longer copy of it. */
function grown(array: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  if (length <= array.length) return array;
  const longer = new Uint32Array(Math.max(length, 2 * array.length));
  longer.set(array);
  return longer;
}
