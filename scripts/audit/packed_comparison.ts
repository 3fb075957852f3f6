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

/** A record of packed texts. All bytes before `offset` were compared. */
interface PackedRecord {
  key: Key;
  /** The last part of the key. */
  lastId: number;
  value: unknown;
  offset: number;
}

/**
 * Compares the packed texts of a projection with expected ones, in the order of ids. Only the content and its
 * order count, not how the texts are grouped into records.
 */
export class PackedComparison {
  #records: AsyncIterator<PackedRecord>;
  #current: PackedRecord | undefined;
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
    const expected = new ExpectedTexts(packed);
    expected.takeThrough(Math.min(this.#damagedThrough, lastId));
    for (;;) {
      this.#current ??= (await this.#records.next()).value as PackedRecord | undefined;
      const record = this.#current;
      if (record === undefined) {
        for (const { id } of expected.takeThrough(lastId)) this.#differs({ kind: "missing", id });
        return;
      }
      if (expected.isEmpty && record.lastId > lastId) return;
      if (!this.#matches(record, expected)) this.#compare(record, expected, lastId);
    }
  }

  /** Whether a record, or its part that is expected now, is as expected. Moves on in both if it is. */
  #matches(record: PackedRecord, expected: ExpectedTexts): boolean {
    const { value, offset, lastId } = record;
    if (!(value instanceof Uint8Array) || value.at(-1) !== LINE_FEED) return false;
    const length = expected.matchingLength(value, offset);
    if (length === 0) return false;
    const end = offset + length;
    if (end === value.length) {
      if (petIdOf(lastLineOf(value)) !== lastId) return false;
      this.#current = undefined;
    } else {
      record.offset = end;
    }
    expected.skip(length);
    return true;
  }

  /** Finds the differences of a record that does not match. */
  #compare(record: PackedRecord, expected: ExpectedTexts, lastId: number): void {
    const { key, value, offset } = record;
    const texts = value instanceof Uint8Array ? unpackLines(value.subarray(offset)) : undefined;
    const ids = texts?.map(petIdOf) ?? [];
    const wanted = expected.takeThrough(Math.min(record.lastId, lastId));
    this.#current = undefined;
    if (texts === undefined || !isAscending(ids) || ids.at(-1) !== record.lastId) {
      this.#differs({ kind: wanted.length > 0 ? "altered" : "extra", key, id: wanted[0]?.id });
      this.#damagedThrough = record.lastId;
      return;
    }
    let index = 0;
    let end = offset;
    for (const [textIndex, text] of texts.entries()) {
      const id = ids[textIndex];
      if (id > lastId) {
        // The rest of the record is expected by a later call.
        this.#current = { ...record, offset: end };
        break;
      }
      end += text.length + 1;
      for (; wanted[index]?.id < id; index++) {
        this.#differs({ kind: "missing", id: wanted[index].id });
      }
      if (wanted[index]?.id !== id) this.#differs({ kind: "extra", id });
      else if (!bytesEqual(text, wanted[index++].text)) this.#differs({ kind: "altered", id });
    }
    for (; index < wanted.length; index++) this.#differs({ kind: "missing", id: wanted[index].id });
  }

  async *#read(store: Store, range: KeyRange): AsyncGenerator<PackedRecord> {
    const keyLength = (range.start ?? range.end)!.length;
    for await (const entries of scan(store, range)) {
      for (const { key, value } of entries) {
        const lastId = key.at(-1);
        if (key.length === keyLength && Number.isSafeInteger(lastId)) {
          yield { key, lastId: lastId as number, value, offset: 0 };
        } else {
          this.#differs({ kind: "extra", key });
        }
      }
    }
  }
}

/** The expected texts, as packed lines. */
class ExpectedTexts {
  #packed: Uint8Array[];
  #offset = 0;

  constructor(packed: readonly Uint8Array[]) {
    this.#packed = packed.filter(({ length }) => length > 0);
  }

  get isEmpty(): boolean {
    return this.#packed.length === 0;
  }

  /**
   * Number of bytes from `offset` that equal the next expected bytes, up to the end of either; 0 if any byte
   * differs.
   */
  matchingLength(value: Uint8Array, offset: number): number {
    let length = 0;
    let start = this.#offset;
    for (const packed of this.#packed) {
      const compared = Math.min(packed.length - start, value.length - offset - length);
      const from = offset + length;
      const expected = packed.subarray(start, start + compared);
      if (!bytesEqual(value.subarray(from, from + compared), expected)) return 0;
      length += compared;
      if (offset + length === value.length) break;
      start = 0;
    }
    return length;
  }

  skip(length: number): void {
    let left = length;
    while (left > 0) {
      const rest = this.#packed[0].length - this.#offset;
      if (left < rest) {
        this.#offset += left;
        return;
      }
      left -= rest;
      this.#packed.shift();
      this.#offset = 0;
    }
  }

  /** Removes and returns the texts up to an id. */
  takeThrough(lastId: number): { id: number; text: Uint8Array }[] {
    const taken: { id: number; text: Uint8Array }[] = [];
    while (!this.isEmpty) {
      const [packed] = this.#packed;
      const end = packed.indexOf(LINE_FEED, this.#offset);
      const text = packed.subarray(this.#offset, end);
      const id = petIdOf(text);
      if (id > lastId) break;
      taken.push({ id, text });
      this.skip(text.length + 1);
    }
    return taken;
  }
}

function lastLineOf(value: Uint8Array): Uint8Array {
  return value.subarray(value.lastIndexOf(LINE_FEED, value.length - 2) + 1, value.length - 1);
}

function isAscending(ids: readonly number[]): boolean {
  return ids.every((id, index) => index === 0 ? id > 0 : id > ids[index - 1]);
}
