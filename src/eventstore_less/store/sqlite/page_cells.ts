/** The cells of a page of SQLite (https://sqlite.org/fileformat2.html#b_tree_pages), of a tree without row ids. */

/** A row of such a table: all of it, or its first bytes and the page with the next ones. */
export interface Cell {
  /** Bytes of the whole row. */
  size: number;
  /** The bytes of the row that are in this page. */
  local: Uint8Array;
  /** The number of the page with the next bytes; 0 without one. */
  overflow: number;
}

/** The types of pages that hold rows of such a table: those above the last level hold rows, too. */
const INTERIOR = 0x02;
const LEAF = 0x0a;

/** The first page begins with the header of the file. */
const FILE_HEADER_BYTES = 100;

/** The cells of a page, which may be cut. Those that cannot be read, and those of a page of another type, are left out. */
export function cellsOf(page: Uint8Array, number: number, usableBytes: number): Cell[] {
  const header = number === 1 ? FILE_HEADER_BYTES : 0;
  const type = page[header];
  if (type !== LEAF && type !== INTERIOR) return [];
  const isLeaf = type === LEAF;
  const pointers = header + (isLeaf ? 8 : 12);
  const view = new DataView(page.buffer, page.byteOffset, page.length);
  const most = Math.floor((page.length - pointers) / 2);
  const count = most > 0 ? Math.min(view.getUint16(header + 3), most) : 0;
  const cells: Cell[] = [];
  for (let index = 0; index < count; index++) {
    const at = view.getUint16(pointers + 2 * index) + (isLeaf ? 0 : 4);
    const cell = cellAt(page, at, usableBytes);
    if (cell !== undefined) cells.push(cell);
  }
  return cells;
}

function cellAt(page: Uint8Array, at: number, usableBytes: number): Cell | undefined {
  const [size, start] = varintAt(page, at);
  const length = localBytes(size, usableBytes);
  const end = start + length;
  const isWhole = length === size;
  const isInPage = end + (isWhole ? 0 : 4) <= Math.min(page.length, usableBytes);
  if (size === 0 || !isInPage) return undefined;
  const local = page.subarray(start, end);
  return { size, local, overflow: isWhole ? 0 : uint32At(page, end) };
}

/** How many bytes of a row are in its own page. */
function localBytes(size: number, usableBytes: number): number {
  const most = Math.floor((usableBytes - 12) * 64 / 255) - 23;
  if (size <= most) return size;
  const least = Math.floor((usableBytes - 12) * 32 / 255) - 23;
  const fitting = least + (size - least) % (usableBytes - 4);
  return fitting <= most ? fitting : least;
}

/** The first two columns of a row, if both are bytes. If the row was cut, the second one is cut, too. */
export function firstTwoBlobs(row: Uint8Array): [Uint8Array, Uint8Array] | undefined {
  const [headerBytes, firstType] = varintAt(row, 0);
  const [first, secondType] = varintAt(row, firstType);
  const [second, end] = varintAt(row, secondType);
  const areBlobs = [first, second].every((type) => type >= 12 && type % 2 === 0);
  if (!areBlobs || end > headerBytes || headerBytes > row.length) return undefined;
  const middle = headerBytes + (first - 12) / 2;
  return [row.subarray(headerBytes, middle), row.subarray(middle, middle + (second - 12) / 2)];
}

/** A number of one to nine bytes, and the offset after it. */
function varintAt(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0;
  for (let offset = at; offset < at + 8; offset++) {
    value = value * 128 + (bytes[offset] & 0x7f);
    if (bytes[offset] < 0x80) return [value, offset + 1];
  }
  return [value * 256 + bytes[at + 8], at + 9];
}

export function uint32At(bytes: Uint8Array, at: number): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(at);
}
