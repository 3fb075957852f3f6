import type { ExpiringRecord, LeftOut } from "../read_expiring_records.ts";
import { decodeKey, ENCODED_NUMBER_BYTES } from "../key_encoding/key_encoding.ts";
import { openToRead, withDamageError } from "./sqlite_reader.ts";

/** Number of records per read. */
const BATCH = 500;

/** The latest time that a `Date` can represent, in milliseconds since the Unix epoch. */
const LAST_TIME = 8_640_000_000_000_000n;

/** Reads in the order of an index, after the last record read. SQL counts bytes from 1. */
const SELECT = `select k, expiration_ms from kv
  where expiration_ms >= 0 and (expiration_ms, k) > (?1, ?2)
    and not (substr(k, 1, length(?3)) = ?3 and
      substr(k, length(?3) + ${ENCODED_NUMBER_BYTES + 1}, length(?4)) = ?4)
  order by expiration_ms, k limit ${BATCH}`;

/**
 * Reads the records of a SQLite file that expire, without those left out. Each batch is a separate query: one long read would keep writers from cleaning up the file. */
export function* readExpiringRecords(
  path: string,
  { space, kind }: LeftOut,
): Generator<ExpiringRecord> {
  const database = openToRead(path);
  try {
    const select = database.prepare(SELECT);
    select.setReadBigInts(true);
    let last: { k: Uint8Array; expiration_ms: bigint } | undefined = {
      k: new Uint8Array(),
      expiration_ms: -1n,
    };
    while (last !== undefined) {
      const { expiration_ms, k } = last;
      const rows = withDamageError(() =>
        select.all(expiration_ms, k, space, kind)
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
