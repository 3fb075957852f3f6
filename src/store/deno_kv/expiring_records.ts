import { DatabaseSync } from "node:sqlite";
import { type ExpiringRecord, IDEMPOTENCY_RECORDS } from "../expiring_records.ts";
import { decodeKey, ENCODED_NUMBER_BYTES } from "../key_encoding.ts";

/** Number of records per read. */
const BATCH = 500;

/** How long a read waits for a locked file. */
const BUSY_LIMIT_MS = 10_000;

/** The latest time that a `Date` can represent, in milliseconds since the Unix epoch. */
const LAST_TIME = 8_640_000_000_000_000n;

/** Reads in the order of an index, after the last record read. SQL counts bytes from 1. */
const SELECT = `select k, expiration_ms from kv
  where expiration_ms >= 0 and (expiration_ms, k) > (?1, ?2)
    and not (substr(k, 1, length(?3)) = ?3 and
      substr(k, length(?3) + ${ENCODED_NUMBER_BYTES + 1}, length(?4)) = ?4)
  order by expiration_ms, k limit ${BATCH}`;

/**
 * Reads the records of a SQLite file that expire, except idempotency records. Each batch is a separate query: one long read would keep writers from cleaning up the file. */
export function* readExpiringRecords(path: string): Generator<ExpiringRecord> {
  const database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_LIMIT_MS });
  try {
    const select = database.prepare(SELECT);
    select.setReadBigInts(true);
    let last: { k: Uint8Array; expiration_ms: bigint } | undefined = {
      k: new Uint8Array(),
      expiration_ms: -1n,
    };
    while (last !== undefined) {
      const rows = select.all(
        last.expiration_ms,
        last.k,
        IDEMPOTENCY_RECORDS.space,
        IDEMPOTENCY_RECORDS.kind,
      ) as unknown as NonNullable<typeof last>[];
      for (const { k, expiration_ms } of rows) {
        const expiresAt = Number(expiration_ms < LAST_TIME ? expiration_ms : LAST_TIME);
        yield { key: decodeKey(k), expiresAt };
      }
      last = rows.length < BATCH ? undefined : rows.at(-1);
    }
  } finally {
    database.close();
  }
}
