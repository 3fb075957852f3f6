import { Buffer } from "node:buffer";
import { VALUE_BYTES_LIMIT } from "../store.ts";
import { type Cell, cellsOf, firstTwoBlobs, uint32At } from "./page_cells.ts";
import { type PageImage, PageImages } from "./page_images.ts";

/** A record that a page holds, or bytes that can have parts of records. */
export interface FoundRecord {
  place: Place;
  /** Its encoded key; `undefined` for bytes. */
  key: Uint8Array | undefined;
  /** Its value, or the part of it that was found; or the bytes. */
  value: Uint8Array;
  /** Whether no part of the value is lost. */
  isWhole: boolean;
  /** Whether SQLite would read this version of the page, if the tree led to it. */
  isLive: boolean;
}

/** Where a record was found. */
interface Place {
  image: PageImage;
  /** The index of its cell; `undefined` for bytes. */
  cell: number | undefined;
}

/** The largest row of `kv`: the value, the key and the other columns. */
const ROW_BYTES_LIMIT = VALUE_BYTES_LIMIT + 4_096;

/**
 * Finds the records of a store in all pages of its file and of its write-ahead log, without SQLite, which refuses a file
 * that was cut, and reads no page to which no other one leads. It also finds deleted records and older versions: the
 * caller must judge each one by its content. Reads one page at a time, and writes nothing.
 */
export class FileRecords implements Disposable {
  #images: PageImages;
  /** The page that was read last: its records are usually read one after the other. */
  #last: { id: number; cells: Cell[] } | undefined;

  /** Opens a file, and the log next to it if there is one. */
  constructor(path: string) {
    this.#images = new PageImages(path);
  }

  /**
   * The records whose keys begin with these bytes, in the order of the pages. Then the bytes of all pages that can have more:
   * what was moved to another page also stays where it was until that place is used again.
   */
  *find(prefix: Uint8Array): Generator<FoundRecord> {
    const used = new Set<number>();
    for (const image of this.#images.all()) {
      for (const cell of this.#cellsIn(image).keys()) {
        const record = this.read({ image, cell }, used);
        if (record?.key !== undefined && startsWith(record.key, prefix)) yield record;
      }
    }
    for (const image of this.#images.all()) {
      if (!used.has(idOf(image))) yield this.read({ image, cell: undefined })!;
    }
  }

  /** Reads a record again. Adds the overflow pages that it uses to a set. */
  read({ image, cell }: Place, used?: Set<number>): FoundRecord | undefined {
    const { isLive, moment } = image;
    if (cell === undefined) {
      const page = this.#images.read(image);
      const value = isOverflow(page) ? this.#chain(image, moment, ROW_BYTES_LIMIT) : page;
      return { place: { image, cell }, key: undefined, value, isWhole: false, isLive };
    }
    const { size, local, overflow } = this.#cellsIn(image)[cell];
    if (size > ROW_BYTES_LIMIT) return undefined;
    const first = this.#images.at(overflow, moment);
    const rest = this.#chain(first, moment, size - local.length, used);
    const row = rest.length === 0 ? local : Buffer.concat([local, rest]);
    const blobs = firstTwoBlobs(row);
    if (blobs === undefined) return undefined;
    const [key, value] = blobs;
    return { place: { image, cell }, key, value, isWhole: row.length === size, isLive };
  }

  /** Closes the file. */
  [Symbol.dispose](): void {
    this.#images[Symbol.dispose]();
  }

  #cellsIn(image: PageImage): Cell[] {
    const id = idOf(image);
    if (this.#last?.id !== id) {
      const cells = cellsOf(this.#images.read(image), image.number, this.#images.usableBytes);
      this.#last = { id, cells };
    }
    return this.#last.cells;
  }

  /** At most so many bytes of the overflow pages from one on, each of which names the next one. */
  #chain(
    first: PageImage | undefined,
    moment: number,
    bytes: number,
    used?: Set<number>,
  ): Uint8Array {
    const { usableBytes } = this.#images;
    const parts: Uint8Array[] = [];
    let missing = bytes;
    let image = first;
    while (missing > 0 && image !== undefined) {
      used?.add(idOf(image));
      const page = this.#images.read(image);
      const part = page.subarray(4, Math.min(usableBytes, 4 + missing));
      parts.push(part);
      missing -= part.length;
      image = this.#images.at(uint32At(page, 0), moment);
    }
    return Buffer.concat(parts);
  }
}

/** Such a page begins with the number of the next one, below 2^24 in a file of up to 64 GB. Others begin with their type. */
function isOverflow(page: Uint8Array): boolean {
  return page[0] === 0;
}

/** A number that no other version of a page has. */
function idOf({ number, frame }: PageImage): number {
  return frame === undefined ? number : -1 - frame;
}

function startsWith(bytes: Uint8Array, prefix: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, prefix.length), prefix) === 0;
}
