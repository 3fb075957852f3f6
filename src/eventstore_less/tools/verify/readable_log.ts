/** Reads what can still be read of a damaged log. */

import { Buffer } from "node:buffer";
import type { Application } from "../../application.ts";
import { LINE_FEED } from "../../encoding/pack_lines.ts";
import { sha256Hex } from "../../encoding/sha256.ts";
import { isLogKey, LOG_PREFIX, logKey } from "../../keyspace.ts";
import { GENESIS_HASH } from "../../log/event.ts";
import { eventOf, splitLines } from "../../log/lines.ts";
import type { StoredLine } from "../../log/read_log.ts";
import { checkedContent, CHECKSUM_BYTES } from "../../store/checksum.ts";
import { decodeKey, encodeKey } from "../../store/key_encoding.ts";
import { scan } from "../../store/scan.ts";
import { FileRecords, type FoundRecord } from "../../store/sqlite/file_records.ts";
import type { Key, Store, StoreEntry } from "../../store/store.ts";
import { StoreDamagedError } from "../../store/store_errors.ts";

/** A log that may be damaged. */
export interface DamagedLog {
  application: Application;
  store: Store;
  /** The path of the file, if the store is one. */
  path: string | undefined;
}

/** The lines that a record of the log holds, sound or not. */
export interface RawRecord {
  lines: Uint8Array[];
  /** Whether the checksum of the record is right. */
  isIntact: boolean;
}

/** A line of a damaged log, sound or not. */
export interface ReadableLine {
  /** Its position by the record in which it is; the line itself may say another one. */
  position: number;
  line: Uint8Array;
  /** Whether the checksum of its record is right. */
  isIntact: boolean;
  /** Whether it is of the newest commits. Older versions of pages may hold lines of commits that were never finished. */
  isLive: boolean;
}

/** Lines that are yielded together. */
const BATCH_LINES = 500;

/**
 * Yields the lines of a log from a position on, in the order of their positions, whatever the head says. Of a file, it
 * reads all pages, so a position may have several lines, and a record that is partly lost gives some of its lines. Of
 * another store, it reads what comes before a damage.
 */
export async function* readableLines(
  { application, store, path }: DamagedLog,
  from = 1,
): AsyncGenerator<ReadableLine[]> {
  if (path !== undefined) {
    yield* linesInFile(application, path, from);
    return;
  }
  try {
    for await (const entries of scan(store, { start: logKey(from), end: LAST_KEY })) {
      for (const entry of entries.filter(({ key }) => isLogKey(key))) {
        const { lines, isIntact } = await rawRecordOf(entry);
        const first = firstPositionOf(application, lines, entry.key[1] as number, true);
        yield lines.map((line, index) => {
          return { position: first + index, line, isIntact, isLive: true };
        });
      }
    }
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
  }
}

const LAST_KEY = logKey(Number.MAX_SAFE_INTEGER);

/** A line in a file, of which the bytes are read again. */
interface FoundLine extends Omit<ReadableLine, "line"> {
  place: FoundRecord["place"];
  /** The index of the line in that place. */
  index: number;
}

function* linesInFile(
  application: Application,
  path: string,
  from: number,
): Generator<ReadableLine[]> {
  using file = new FileRecords(path);
  /** By a part of their hashes. A file has most lines in several versions of a page. */
  const found = new Map<number, FoundLine>();
  for (const record of file.find(encodeKey(LOG_PREFIX))) {
    const { place } = record;
    const { lines, first, isIntact } = linesOfRecord(application, record);
    const isLive = record.isLive && record.key !== undefined;
    for (const [index, line] of lines.entries()) {
      const id = Number.parseInt(sha256Hex(line).slice(0, HASH_DIGITS), 16);
      const same = found.get(id);
      if (same !== undefined) {
        same.isIntact ||= isIntact;
        same.isLive ||= isLive;
        continue;
      }
      const position = first === undefined ? eventOf(application, line)?.position : first + index;
      if (position === undefined || position < from) continue;
      found.set(id, { position, place, index, isIntact, isLive });
    }
  }
  const rankOf = ({ isIntact, isLive }: FoundLine) => (isIntact ? 0 : 2) + (isLive ? 0 : 1);
  const sorted = [...found.values()].sort((one, other) =>
    one.position - other.position || rankOf(one) - rankOf(other)
  );
  let last: { place: FoundRecord["place"]; lines: Uint8Array[] } | undefined;
  for (let start = 0; start < sorted.length; start += BATCH_LINES) {
    yield sorted.slice(start, start + BATCH_LINES).map(({ place, index, position, ...state }) => {
      if (last?.place !== place) {
        last = { place, lines: linesOfRecord(application, file.read(place)!).lines };
      }
      return { position, line: last.lines[index], ...state };
    });
  }
}

/** Digits of a hash in a number that is exact. */
const HASH_DIGITS = 13;

/** The beginning of each line. */
const LINE_START = '{"specversion":';

/** The lines of a record of the log, and the position of the first one, if the record says it. */
interface LinesOfRecord {
  lines: Uint8Array[];
  first?: number;
  isIntact: boolean;
}

/** The lines of a record that was found: none if it is not one of the log. */
function linesOfRecord(
  application: Application,
  { key: encodedKey, value, isWhole }: FoundRecord,
): LinesOfRecord {
  if (encodedKey === undefined) {
    return { lines: fragmentsOf(value).slice(0, -1).map(lastLineIn), isIntact: false };
  }
  const key = keyOf(encodedKey);
  if (key === undefined || !isLogKey(key)) return { lines: [], isIntact: false };
  const [, last] = key;
  const isIntact = isWhole && checkedContent({ key, value }) !== undefined;
  const fragments = fragmentsOf(value.subarray(CHECKSUM_BYTES));
  // After a line that was cut, there is nothing.
  const lines = (isWhole ? fragments : fragments.slice(0, -1)).filter(({ length }) => length > 0);
  if (isIntact) return { lines, first: last - lines.length + 1, isIntact };
  return { lines, first: firstPositionOf(application, lines, last, isWhole), isIntact };
}

/**
 * The position of the first line of a damaged record. Each line gives one, and so does the key, which has the position of the
 * last line, unless the record was cut. A flipped bit can change one of them, so the most frequent one is right.
 */
function firstPositionOf(
  application: Application,
  lines: Uint8Array[],
  last: number,
  isWhole: boolean,
): number {
  const ofKey = last - lines.length + 1;
  const said = isWhole ? [ofKey] : [];
  for (const [index, line] of lines.entries()) {
    const position = eventOf(application, line)?.position;
    if (position !== undefined) said.push(position - index);
  }
  const counts = Map.groupBy(said, (position) => position);
  const [most] = [...counts].sort(([, one], [, other]) => other.length - one.length);
  return most === undefined ? ofKey : most[0];
}

/** A flipped bit can change a key. */
function keyOf(encoded: Uint8Array): Key | undefined {
  try {
    return decodeKey(encoded);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/** The parts of bytes before, between and after line feeds. */
function fragmentsOf(bytes: Uint8Array): Uint8Array[] {
  const fragments: Uint8Array[] = [];
  let start = 0;
  for (let end = bytes.indexOf(LINE_FEED); end !== -1; end = bytes.indexOf(LINE_FEED, start)) {
    fragments.push(bytes.subarray(start, end));
    start = end + 1;
  }
  return [...fragments, bytes.subarray(start)];
}

/** What follows the last {@linkcode LINE_START}: before it, there are other bytes of the page. */
function lastLineIn(bytes: Uint8Array): Uint8Array {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return bytes.subarray(Math.max(0, view.lastIndexOf(LINE_START)));
}

export async function rawRecordOf(entry: StoreEntry): Promise<RawRecord> {
  const { value } = entry;
  const bytes = value instanceof Uint8Array ? value.subarray(CHECKSUM_BYTES) : new Uint8Array();
  const lines = (await Array.fromAsync(splitLines([bytes]))).flat();
  return {
    lines: lines.filter(({ length }) => length > 0),
    isIntact: checkedContent(entry) !== undefined,
  };
}

/** A line that may be the one at its position. */
interface Candidate extends ReadableLine {
  hash: string;
  previousHash: string;
}

/**
 * Yields the lines that continue a log after a position, whose line has that hash, up to the first one that is missing
 * or does not fit. If the checksum of its record is wrong, a line counts only if the next line names its hash. If the next
 * line names another hash, either of the two may have been altered, so both are left out, whatever their checksums.
 */
export async function* continuingLines(
  log: DamagedLog,
  after: { position: number; hash: string } = { position: 0, hash: GENESIS_HASH },
): AsyncGenerator<StoredLine[]> {
  let { position, hash } = after;
  const candidates = new Candidates(log, position + 1);
  let batch: StoredLine[] = [];
  for (;;) {
    await candidates.readTo(position + 2);
    const next = candidates.next(position + 1, hash);
    if (next === undefined) break;
    position++;
    hash = next.hash;
    batch.push({ position, line: next.line });
    if (batch.length < BATCH_LINES) continue;
    yield batch;
    batch = [];
  }
  yield batch;
}

/** The lines of a damaged log by their positions, of which only a few are kept. */
class Candidates {
  #application: Application;
  #lines: AsyncGenerator<ReadableLine[]>;
  #at = new Map<number, Candidate[]>();
  /** The greatest position of a line that was read. */
  #readTo = 0;

  constructor(log: DamagedLog, from: number) {
    this.#application = log.application;
    this.#lines = readableLines(log, from);
  }

  /** Reads all lines up to a position. */
  async readTo(position: number): Promise<void> {
    while (this.#readTo <= position) {
      const { value, done } = await this.#lines.next();
      if (done) this.#readTo = Infinity;
      else for (const line of value) this.#add(line);
    }
  }

  /** The line at a position that follows a line with a hash; `undefined` if there is none, or nothing proves it. */
  next(position: number, after: string): Candidate | undefined {
    const fitting = this.#candidatesAt(position).filter((it) => it.previousHash === after);
    const followers = this.#candidatesAt(position + 1);
    this.#at.delete(position - 1);
    const isLive = (it: Candidate) => it.isLive;
    // A record that is not live may be one of a commit that was never finished.
    return provenLine(fitting.filter(isLive), followers.filter(isLive)) ??
      provenLine(fitting, followers);
  }

  #candidatesAt(position: number): Candidate[] {
    return this.#at.get(position) ?? [];
  }

  #add(read: ReadableLine): void {
    const event = eventOf(this.#application, read.line);
    if (event === undefined) return;
    const { position, previousHash } = event;
    const candidate = { ...read, hash: sha256Hex(read.line), previousHash };
    this.#at.set(position, [...this.#candidatesAt(position), candidate]);
    this.#readTo = Math.max(this.#readTo, position);
  }
}

function provenLine(fitting: Candidate[], followers: Candidate[]): Candidate | undefined {
  const named = new Set(followers.map(({ previousHash }) => previousHash));
  if (named.size > 0) return fitting.find(({ hash }) => named.has(hash));
  return fitting.find(({ isIntact }) => isIntact);
}
