import type { Runtime } from "../../runtime/runtime.ts";
import type { ExpiringRecord, LeftOut } from "../read_expiring_records.ts";
import { decodeKey, ENCODED_NUMBER_BYTES } from "../key_encoding/key_encoding.ts";
import type { PostgresSettings } from "./database_url.ts";
import { bytesOf } from "./postgres_store.ts";
import { closeBoth, connectToPrimary } from "./primary.ts";

/** Time limit of the connection. */
const CONNECT_LIMIT_MS = 10_000;

/** Number of records per read. */
const BATCH = 500;

/** The latest time that a `Date` can represent, in milliseconds since the Unix epoch. */
const LAST_TIME = 8_640_000_000_000_000;

/**
 * Reads in the order of an index, after the last record read. Columns: the time, the time in milliseconds, the key.
 * SQL counts bytes from 1.
 */
const SELECT = {
  text: `
    select expires_at, least(extract(epoch from expires_at) * 1000, ${LAST_TIME}), key
    from animal_store.records
    where expires_at is not null and (expires_at, key) > ($1::timestamp with time zone, $2)
      and not (
        pg_catalog.substr(key, 1, pg_catalog.length($3::pg_catalog.bytea)) = $3 and
        pg_catalog.substr(key, pg_catalog.length($3) + ${ENCODED_NUMBER_BYTES + 1},
          pg_catalog.length($4::pg_catalog.bytea)) = $4)
    order by expires_at, key limit ${BATCH}`,
};

/** Reads the records of a database that expire, without those left out. */
export async function* readExpiringRecords(
  settings: PostgresSettings,
  runtime: Runtime,
  { space, kind }: LeftOut,
): AsyncGenerator<ExpiringRecord> {
  const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
  const primary = await connectToPrimary(settings, runtime, signal);
  try {
    let last: [time: string, key: Uint8Array] | undefined = ["-infinity", new Uint8Array()];
    while (last !== undefined) {
      const rows = await primary.reads.read(SELECT, [...last, space, kind]);
      for (const [, expiresAt, key] of rows) {
        yield { key: decodeKey(bytesOf(key)), expiresAt: Number(expiresAt) };
      }
      const [time, , key] = rows.at(-1) ?? [];
      last = rows.length < BATCH ? undefined : [time!, bytesOf(key!)];
    }
  } finally {
    closeBoth(primary);
  }
}
