import { logKey } from "../keyspace.ts";
import { scan } from "../store/scan.ts";
import type { Store } from "../store/store.ts";

/** A record of the log. Its lines end at position `last`. */
export interface LogRecord {
  last: number;
  /** The stored value. A sound one is packed lines of events. */
  value: unknown;
  /** The same for all records of one commit. */
  versionstamp: string;
}

/**
 * Reads the stored records that hold the lines from one position to another, both inclusive, in batches and
 * in order. The first and the last record may hold other lines, too.
 */
export async function* readLogRecords(
  store: Store,
  { from = 1, to }: { from?: number; to: number },
): AsyncGenerator<LogRecord[]> {
  if (from > to) return;
  for await (
    const entries of scan(store, { start: logKey(from), end: logKey(Number.MAX_SAFE_INTEGER) })
  ) {
    const records = entries.map(({ key, value, versionstamp }) => {
      return { last: key[1] as number, value, versionstamp };
    });
    // The first record that ends at `to` or later is the last one wanted.
    const end = records.findIndex(({ last }) => last >= to);
    yield end === -1 ? records : records.slice(0, end + 1);
    if (end !== -1) return;
  }
}
