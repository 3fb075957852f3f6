import { Buffer } from "node:buffer";
import { petIdOf } from "../../events/pet.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { LINE_FEED, unpackLines } from "../../src/encoding/pack_lines.ts";
import { scan } from "../../src/store/scan.ts";
import type { Key, KeyRange, Store } from "../../src/store/store.ts";

/** A difference between the stored texts of pets and the expected ones. */
export type PackedDifference =
  /** An expected text is not stored. */
  | { kind: "missing"; id: number }
  /** Another text is stored for that id. */
  | { kind: "altered"; id: number }
  /** A text is stored that is not expected, or a second time. */
  | { kind: "extra"; id: number }
  /** The record under `key` is not one that the service writes. `id` is the first pet that it should hold. */
  | { kind: "altered" | "extra"; key: Key; id?: number };

/** A record of packed texts. */
interface PackedRecord {
  key: Key;
  /** The last part of the key. */
  lastId: number;
  value: unknown;
}

/**
 * Compares the packed texts of a projection with expected ones, in the order of ids. Only the content and its
 * order count, not how the texts are grouped into records.
 */
export class PackedComparison {
  #records: AsyncIterator<PackedRecord>;
  /** The next record, whose texts are not compared yet. */
  #record: PackedRecord | undefined;
  /** The rest of the record before it. */
  #stored = new Texts(new Uint8Array());
  /** The last id of a damaged record: its texts are not reported one by one. */
  #damagedThrough = 0;
  #differs: (difference: PackedDifference) => void;

  /** Compares the records in a range, whose keys end in an id. */
  constructor(store: Store, range: KeyRange, differs: (difference: PackedDifference) => void) {
    this.#differs = differs;
    this.#records = this.#read(store, range);
  }

  /**
   * Compares the next texts. `packed` holds all expected texts of the ids after those of the last call, up to
   * `lastId`.
   */
  async follow(packed: readonly Uint8Array[], lastId: number): Promise<void> {
    const expected = new Texts(Buffer.concat(packed));
    expected.skipThrough(this.#damagedThrough);
    for (;;) {
      while (this.#stored.id === Infinity && await this.#open(expected, lastId));
      const stored = this.#stored;
      const id = Math.min(stored.id, expected.id);
      if (id > lastId) return;
      if (stored.id !== id) this.#differs({ kind: "missing", id });
      else if (expected.id !== id) this.#differs({ kind: "extra", id });
      else if (!bytesEqual(stored.text, expected.text)) this.#differs({ kind: "altered", id });
      stored.skipThrough(id);
      expected.skipThrough(id);
    }
  }

  /** Goes on to the next record. Returns `false` if it has none of the texts up to an id. */
  async #open(expected: Texts, lastId: number): Promise<boolean> {
    const record = this.#record ??= (await this.#records.next()).value as PackedRecord | undefined;
    if (record === undefined || expected.id === Infinity && record.lastId > lastId) return false;
    this.#record = undefined;
    const { key, value } = record;
    // Sound records are nearly all, so they are compared as a whole.
    if (value instanceof Uint8Array && lastIdOf(value) === record.lastId && expected.skip(value)) {
      return true;
    }
    const ids = unpackLines(value)?.map(petIdOf) ?? [];
    if (ids.at(-1) === record.lastId && isAscending(ids)) {
      this.#stored = new Texts(value as Uint8Array);
    } else {
      const [kind, id] = expected.id <= record.lastId
        ? ["altered" as const, expected.id]
        : ["extra" as const, undefined];
      this.#differs({ kind, key, id });
      this.#damagedThrough = record.lastId;
      expected.skipThrough(record.lastId);
    }
    return true;
  }

  async *#read(store: Store, range: KeyRange): AsyncGenerator<PackedRecord> {
    const keyLength = (range.start ?? range.end)!.length;
    for await (const entries of scan(store, range)) {
      for (const { key, value } of entries) {
        const lastId = key.at(-1);
        if (key.length === keyLength && Number.isSafeInteger(lastId)) {
          yield { key, lastId: lastId as number, value };
        } else {
          this.#differs({ kind: "extra", key });
        }
      }
    }
  }
}

/** Packed texts with ascending ids, of which the first ones are taken away. */
class Texts {
  /** The next text. */
  text!: Uint8Array;
  /** Its id; `Infinity` after the last text. */
  id!: number;
  #rest: Uint8Array;

  constructor(packed: Uint8Array) {
    this.#rest = packed;
    this.#take(0);
  }

  skipThrough(id: number): void {
    while (this.id <= id) this.#take(this.text.length + 1);
  }

  /** Skips these bytes if they come next. Returns whether it did. */
  skip(packed: Uint8Array): boolean {
    if (!bytesEqual(this.#rest.subarray(0, packed.length), packed)) return false;
    this.#take(packed.length);
    return true;
  }

  #take(length: number): void {
    this.#rest = this.#rest.subarray(length);
    this.text = this.#rest.subarray(0, Math.max(0, this.#rest.indexOf(LINE_FEED)));
    this.id = this.#rest.length === 0 ? Infinity : petIdOf(this.text);
  }
}

/** The id of the last text; `NaN` if the value does not end in a text and a line feed. */
function lastIdOf(value: Uint8Array): number {
  if (value.at(-1) !== LINE_FEED) return NaN;
  return petIdOf(value.subarray(value.lastIndexOf(LINE_FEED, value.length - 2) + 1));
}

function isAscending(ids: readonly number[]): boolean {
  return ids.every((id, index) => index === 0 ? id > 0 : id > ids[index - 1]);
}
