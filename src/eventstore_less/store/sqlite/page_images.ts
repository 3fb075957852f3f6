/** The pages of a file of SQLite, in each version that the file and its write-ahead log hold, without SQLite. */

import { closeSync, existsSync, fstatSync, openSync, readSync } from "node:fs";

/** One version of a page. */
export interface PageImage {
  /** The number of the page; the first one is 1. */
  number: number;
  /** The frame of the write-ahead log that holds it; `undefined` for the file itself. */
  frame: number | undefined;
  /** The last frame of the commit that made this version, or -1. Its overflow pages are of that moment, too. */
  moment: number;
  /** Whether SQLite would read this version. */
  isLive: boolean;
}

/** What Deno KV and this engine use, for a file without its first page. */
const PAGE_BYTES = 4_096;
const MAGIC = "SQLite format 3\0";

/** The last page of a file that was cut counts if it has so many bytes, because it can hold lines. */
const SHORTEST_PAGE_BYTES = 8;

/** The header of the write-ahead log, and that of each page in it. */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/** The frames of a write-ahead log. */
interface Frames {
  /** The number of the page in each frame. */
  pages: number[];
  /** The frames that end a commit, in their order, whether SQLite would read it or not. */
  ends: number[];
  /** The last frame of the last whole commit; -1 without one. SQLite reads no later one. */
  lastCommitted: number;
}

export class PageImages implements Disposable {
  /** Bytes of a page. */
  readonly pageBytes: number;
  /** Bytes of a page that SQLite uses. */
  readonly usableBytes: number;
  #file: number;
  #log: number | undefined;
  #pagesInFile: number;
  #frames: Frames;
  /** The frames of each page, in their order. */
  #framesOf = new Map<number, number[]>();

  /** Opens a file, and the log next to it if there is one. */
  constructor(path: string) {
    this.#file = openSync(path, "r");
    this.#log = existsSync(`${path}-wal`) ? openSync(`${path}-wal`, "r") : undefined;
    const header = headerOf(this.#file);
    const logHeader = headerOf(this.#log);
    const isHeader = new TextDecoder().decode(header.subarray(0, MAGIC.length)) === MAGIC;
    const sizes = [isHeader ? pageSizeOf(header) : 0, viewOf(logHeader).getUint32(8), PAGE_BYTES];
    this.pageBytes = sizes.find(isPageSize)!;
    this.usableBytes = this.pageBytes - (isHeader ? header[20] : 0);
    const lastBytes = fstatSync(this.#file).size - SHORTEST_PAGE_BYTES;
    this.#pagesInFile = Math.ceil(lastBytes / this.pageBytes);
    this.#frames = this.#readFrames(logHeader);
    this.#frames.pages.forEach((number, frame) => {
      const frames = this.#framesOf.get(number);
      if (frames === undefined) this.#framesOf.set(number, [frame]);
      else frames.push(frame);
    });
  }

  /** Every version of every page. */
  *all(): Generator<PageImage> {
    for (let number = 1; number <= this.#pagesInFile; number++) yield this.#inFile(number);
    for (let frame = 0; frame < this.#frames.pages.length; frame++) yield this.#inLog(frame);
  }

  /** The version of a page that was current at a moment; `undefined` if it is lost. */
  at(number: number, moment: number): PageImage | undefined {
    const frame = this.#framesOf.get(number)?.findLast((it) => it <= moment);
    if (frame !== undefined) return this.#inLog(frame);
    return number >= 1 && number <= this.#pagesInFile ? this.#inFile(number) : undefined;
  }

  /** The bytes of a page: fewer if the end of the file is lost. */
  read({ number, frame }: PageImage): Uint8Array {
    if (frame === undefined) {
      return readAt(this.#file, (number - 1) * this.pageBytes, this.pageBytes);
    }
    return readAt(this.#log!, this.#frameAt(frame) + FRAME_HEADER_BYTES, this.pageBytes);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
    if (this.#log !== undefined) closeSync(this.#log);
  }

  #inFile(number: number): PageImage {
    const { lastCommitted } = this.#frames;
    const isLive = !(this.#framesOf.get(number) ?? []).some((frame) => frame <= lastCommitted);
    return { number, frame: undefined, moment: isLive ? lastCommitted : -1, isLive };
  }

  #inLog(frame: number): PageImage {
    const number = this.#frames.pages[frame];
    const { lastCommitted } = this.#frames;
    const newest = this.#framesOf.get(number)!.findLast((it) => it <= lastCommitted);
    const isLive = frame === newest;
    // The other pages of a commit may come after this one.
    const end = this.#frames.ends.find((it) => it >= frame) ?? this.#frames.pages.length;
    return { number, frame, moment: isLive ? lastCommitted : end, isLive };
  }

  #frameAt(frame: number): number {
    return LOG_HEADER_BYTES + frame * (FRAME_HEADER_BYTES + this.pageBytes);
  }

  /** Reads the numbers of the pages, and checks frames as SQLite does after a crash. */
  #readFrames(header: Uint8Array): Frames {
    const frames: Frames = { pages: [], ends: [], lastCommitted: -1 };
    if (this.#log === undefined) return frames;
    const { size } = fstatSync(this.#log);
    const salts = header.subarray(16, 24).join();
    const isBigEndian = (header[3] & 1) === 1;
    let sums = checksum(header.subarray(0, 24), isBigEndian, [0, 0]);
    let isValid = true;
    for (let frame = 0; this.#frameAt(frame + 1) <= size; frame++) {
      const bytes = readAt(this.#log, this.#frameAt(frame), FRAME_HEADER_BYTES + this.pageBytes);
      const view = viewOf(bytes);
      frames.pages.push(view.getUint32(0));
      const endsCommit = view.getUint32(4) > 0;
      if (endsCommit) frames.ends.push(frame);
      if (!isValid) continue;
      sums = checksum(bytes.subarray(0, 8), isBigEndian, sums);
      sums = checksum(bytes.subarray(FRAME_HEADER_BYTES), isBigEndian, sums);
      isValid = bytes.subarray(8, 16).join() === salts &&
        view.getUint32(16) === sums[0] && view.getUint32(20) === sums[1];
      if (isValid && endsCommit) frames.lastCommitted = frame;
    }
    return frames;
  }
}

/** The first bytes of a file; zeros for those that are missing. */
function headerOf(file: number | undefined): Uint8Array {
  const header = new Uint8Array(LOG_HEADER_BYTES);
  if (file !== undefined) header.set(readAt(file, 0, LOG_HEADER_BYTES));
  return header;
}

function pageSizeOf(header: Uint8Array): number {
  const size = viewOf(header).getUint16(16);
  return size === 1 ? 65_536 : size;
}

function isPageSize(size: number): boolean {
  return size >= 512 && size <= 65_536 && (size & size - 1) === 0;
}

/** The checksum of the write-ahead log, which continues that of the bytes before. */
function checksum(
  bytes: Uint8Array,
  isBigEndian: boolean,
  [first, second]: [number, number],
): [number, number] {
  const view = viewOf(bytes);
  for (let offset = 0; offset < bytes.length; offset += 8) {
    first = first + view.getUint32(offset, !isBigEndian) + second >>> 0;
    second = second + view.getUint32(offset + 4, !isBigEndian) + first >>> 0;
  }
  return [first, second];
}

/** The bytes at an offset, up to the end of the file. */
function readAt(file: number, offset: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  let end = 0;
  for (let read = -1; end < length && read !== 0; end += read) {
    read = readSync(file, bytes, end, length - end, offset + end);
  }
  return bytes.subarray(0, end);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}
