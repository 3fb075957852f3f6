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

/** A record of a damaged log. */
export interface ReadableRecord extends RawRecord {
  /** Whether it is of the newest commits. Older versions of pages may hold records of commits that were never finished. */
  isLive: boolean;
}

/** Records that are yielded together. */
const BATCH_RECORDS = 100;

/**
 * Yields the records of a log that hold lines from a position on, in the order of their first lines, whatever the head
 * says. Of a file, it reads all pages, so some lines come several times, and lines of records that are partly lost, too.
 * Of another store, it reads what comes before a damage.
 */
export async function* readableRecords(
  { application, store, path }: DamagedLog,
  from = 1,
): AsyncGenerator<ReadableRecord[]> {
  if (path !== undefined) {
    yield* recordsInFile(application, path, from);
    return;
  }
  try {
    for await (const entries of scan(store, { start: logKey(from), end: LAST_KEY })) {
      const records = await Promise.all(
        entries.filter(({ key }) => isLogKey(key)).map(rawRecordOf),
      );
      yield records.map((record) => ({ ...record, isLive: true }));
    }
  } catch (error) {
    if (!(error instanceof StoreDamagedError)) throw error;
  }
}

const LAST_KEY = logKey(Number.MAX_SAFE_INTEGER);

function* recordsInFile(
  application: Application,
  path: string,
  from: number,
): Generator<ReadableRecord[]> {
  using file = new FileRecords(path);
  const found: { first: number; rank: number; place: FoundRecord["place"] }[] = [];
  for (const record of file.find(encodeKey(LOG_PREFIX))) {
    const read = readRecord(application, record);
    const first = read === undefined ? undefined : firstPositionOf(application, read);
    if (first === undefined || first + read!.lines.length <= from) continue;
    const rank = (read!.isIntact ? 0 : 2) + (read!.isLive ? 0 : 1);
    found.push({ first, rank, place: record.place });
  }
  found.sort((one, other) => one.first - other.first || one.rank - other.rank);
  for (let start = 0; start < found.length; start += BATCH_RECORDS) {
    const places = found.slice(start, start + BATCH_RECORDS).map(({ place }) => place);
    yield places.flatMap((place) => readRecord(application, file.read(place)!) ?? []);
  }
}

/** The beginning of each line. */
const LINE_START = '{"specversion":';

/** A record of the log in a file; `undefined` for another one. Of bytes without a key, the lines with an event count. */
function readRecord(
  application: Application,
  { key: encodedKey, value, isWhole, isLive }: FoundRecord,
): ReadableRecord & { key?: Key } | undefined {
  if (encodedKey === undefined) {
    const lines = fragmentsOf(value).slice(0, -1)
      .map((bytes) => lastLineIn(bytes))
      .filter((line) => eventOf(application, line) !== undefined);
    return lines.length === 0 ? undefined : { lines, isIntact: false, isLive: false };
  }
  const key = keyOf(encodedKey);
  if (key === undefined || !isLogKey(key)) return undefined;
  const isIntact = isWhole && checkedContent({ key, value }) !== undefined;
  const lines = fragmentsOf(value.subarray(CHECKSUM_BYTES));
  if (!isWhole) lines.pop();
  return { key, lines: lines.filter(({ length }) => length > 0), isIntact, isLive };
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

/** The position of the first line of a record, by its first sound line, or else by its key. */
function firstPositionOf(
  application: Application,
  { key, lines, isIntact }: RawRecord & { key?: Key },
): number | undefined {
  const last = key?.[1] as number | undefined;
  if (isIntact) return last! - lines.length + 1;
  for (const [index, line] of lines.entries()) {
    const event = eventOf(application, line);
    if (event !== undefined) return event.position - index;
  }
  return last;
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
interface Candidate {
  line: Uint8Array;
  hash: string;
  previousHash: string;
  isIntact: boolean;
  isLive: boolean;
}

/** Lines that are yielded together. */
const BATCH_LINES = 500;

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
  #records: AsyncGenerator<ReadableRecord[]>;
  #at = new Map<number, Candidate[]>();
  /** The position of the first line of the newest record. */
  #readTo = 0;

  constructor(log: DamagedLog, from: number) {
    this.#application = log.application;
    this.#records = readableRecords(log, from);
  }

  /** Reads all records that begin at a position or before. */
  async readTo(position: number): Promise<void> {
    while (this.#readTo <= position) {
      const { value, done } = await this.#records.next();
      if (done) this.#readTo = Infinity;
      else for (const record of value) this.#add(record);
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

  #add({ lines, isIntact, isLive }: ReadableRecord): void {
    const first = lines.map((line) => this.#note(line, isIntact, isLive))
      .find((position) => position !== undefined);
    if (first !== undefined) this.#readTo = Math.max(this.#readTo, first);
  }

  /** Keeps a line, and returns its position; `undefined` if it is not one of an event. */
  #note(line: Uint8Array, isIntact: boolean, isLive: boolean): number | undefined {
    const event = eventOf(this.#application, line);
    if (event === undefined) return undefined;
    const { position, previousHash } = event;
    const candidate = { line, hash: sha256Hex(line), previousHash, isIntact, isLive };
    this.#at.set(position, [...this.#candidatesAt(position), candidate]);
    return position;
  }
}

function provenLine(fitting: Candidate[], followers: Candidate[]): Candidate | undefined {
  const named = new Set(followers.map(({ previousHash }) => previousHash));
  if (named.size > 0) return fitting.find(({ hash }) => named.has(hash));
  return fitting.find(({ isIntact }) => isIntact);
}
