import type { Store } from "../store/store.ts";
import { linesOf, type StoredLine } from "./log_records.ts";
import { readLogRecords } from "./read_log.ts";

/** The stored log is incomplete. The message names the first position that is missing or not a line. */
export class LogDamagedError extends Error {
  constructor(position: number, fault: string) {
    super(`Position ${position} of the log ${fault}; run deno task audit`);
    this.name = "LogDamagedError";
  }
}

/**
 * Reads the lines from one position to another, in batches and in order. `from` and `to` are inclusive, and
 * `to` must not exceed the position of the head. Throws `LogDamagedError` if a line is missing or repeated, or if a record does not hold
 * lines, so that nobody mistakes an incomplete log for a complete one. Only an audit checks the content.
 */
export async function* readLog(
  store: Store,
  range: { from: number; to: number },
): AsyncGenerator<StoredLine[]> {
  for await (const records of readLogByRecord(store, range)) {
    yield records.flatMap(({ lines }) => lines);
  }
}

/** The lines of one record. */
export interface LinesOfRecord {
  lines: StoredLine[];
  /** The same for all records of one commit. */
  versionstamp: string;
}

/** Reads lines as {@linkcode readLog} does, and yields those of each stored record separately. */
export async function* readLogByRecord(
  store: Store,
  { from, to }: { from: number; to: number },
): AsyncGenerator<LinesOfRecord[]> {
  let next = from;
  for await (const records of readLogRecords(store, { from, to })) {
    const batch: LinesOfRecord[] = [];
    for (const { last, value, versionstamp } of records) {
      const lines = linesOf(last, value);
      if (lines === undefined) throw new LogDamagedError(next, "is in a record without lines");
      const [{ position: first }] = lines;
      if (first > next) throw new LogDamagedError(next, "is missing");
      if (first < next && next !== from) throw new LogDamagedError(first, "is there twice");
      const wanted = lines.filter(({ position }) => position >= next && position <= to);
      batch.push({ lines: wanted, versionstamp });
      next = last + 1;
    }
    yield batch;
  }
  if (next <= to) throw new LogDamagedError(next, "is missing");
}
