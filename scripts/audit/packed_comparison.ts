import { Buffer } from "node:buffer";
import { petIdOf } from "../../events/pet.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { joinLines, LINE_FEED, unpackLines } from "../../src/encoding/pack_lines.ts";
import { type BoundedRange, scan } from "../../src/store/scan.ts";
import type { Key, Store } from "../../src/store/store.ts";

export type DifferenceKind = "missing" | "extra" | "altered";

/** Takes a difference: the id of a pet, or the key of a record that the service does not write. */
type Differs = (kind: DifferenceKind, what: number | Key) => void;

/** A record of packed texts. */
interface PackedRecord {
  key: Key;
  /** The last part of the key. */
  lastId: number;
  texts: Uint8Array;
}

/**
 * Compares the packed texts of a projection with expected ones, in the order of ids. Only the content and its
 * order count, not how the texts are grouped into records.
 */
export class PackedComparison {
  #differs: Differs;
  #records: AsyncIterator<PackedRecord>;
  /** The record that holds later texts than those compared, without the texts that were compared. */
  #rest: PackedRecord[] = [];

  /** Compares the records in a range, whose keys end in an id. */
  constructor(store: Store, range: BoundedRange, differs: Differs) {
    this.#differs = differs;
    this.#records = this.#read(store, range);
  }

  /**
   * Compares the next texts. `packed` holds all expected texts of the ids after those of the last call, up to
   * `lastId`.
   */
  async follow(packed: readonly Uint8Array[], lastId: number): Promise<void> {
    const records = this.#rest;
    while ((records.at(-1)?.lastId ?? 0) <= lastId) {
      const next = await this.#records.next();
      if (next.done) break;
      records.push(next.value);
    }
    const expected = Buffer.concat(packed);
    const stored = Buffer.concat(records.map(({ texts }) => texts));
    const rest = stored.subarray(expected.length);
    const last = records.at(-1);
    // Sound records are nearly all, so they are compared as a whole. Only the last one may hold later texts.
    const isSound = stored.subarray(0, expected.length).equals(expected) &&
      records.every(isWhole) &&
      (rest.length === 0 || last!.lastId > lastId && rest.length <= last!.texts.length);
    if (!isSound) this.#rest = this.#compareTexts(records, expected, lastId);
    else this.#rest = rest.length === 0 ? [] : [{ ...last!, texts: rest }];
  }

  /** Compares text by text. Returns the record with the stored texts of later ids. */
  #compareTexts(records: PackedRecord[], packed: Uint8Array, lastId: number): PackedRecord[] {
    const expected = new Map(textsOf(packed));
    const rest: PackedRecord[] = [];
    let previous = 0;
    for (const record of records) {
      const stored = textsOf(record.texts);
      const isInOrder = stored.every(([id], index) => id > (stored[index - 1]?.[0] ?? 0));
      if (isInOrder && stored.at(-1)?.[0] === record.lastId) {
        for (const [id, text] of stored.filter(([id]) => id <= lastId)) {
          if (id <= previous || !expected.has(id)) this.#differs("extra", id);
          else if (!bytesEqual(text, expected.get(id)!)) this.#differs("altered", id);
          expected.delete(id);
          previous = id;
        }
        const later = stored.flatMap(([id, text]) => id > lastId ? [text] : []);
        if (later.length > 0) rest.push({ ...record, texts: joinLines(later) });
      } else if (record.lastId > lastId) rest.push(record);
      else {
        this.#differs("altered", record.key);
        for (const id of expected.keys()) {
          if (id > previous && id <= record.lastId) expected.delete(id);
        }
        previous = record.lastId;
      }
    }
    for (const id of expected.keys()) this.#differs("missing", id);
    return rest;
  }

  async *#read(store: Store, range: BoundedRange): AsyncGenerator<PackedRecord> {
    for await (const entries of scan(store, range)) {
      for (const { key, value } of entries) {
        const lastId = key.at(-1);
        if (key.length !== range.start.length || !Number.isSafeInteger(lastId)) {
          this.#differs("extra", key);
        } else {
          const texts = value instanceof Uint8Array ? value : new Uint8Array();
          yield { key, lastId: lastId as number, texts };
        }
      }
    }
  }
}

/** The texts in a value, with their ids. */
function textsOf(packed: Uint8Array): [id: number, text: Uint8Array][] {
  return (unpackLines(packed) ?? []).map((text) => [petIdOf(text), text]);
}

/** Whether a record ends with the text that its key names, and a line feed. */
function isWhole({ lastId, texts }: PackedRecord): boolean {
  const start = texts.lastIndexOf(LINE_FEED, texts.length - 2) + 1;
  return texts.at(-1) === LINE_FEED && petIdOf(texts.subarray(start)) === lastId;
}
