import type { Runtime } from "../../runtime/runtime.ts";
import { decodeKey, ENCODED_NUMBER_BYTES } from "../key_encoding/key_encoding.ts";
import type { ExpiringRecord } from "../store.ts";
import type { Row } from "./connection.ts";
import type { PostgresSettings } from "./database_url.ts";
import { bytesOf } from "./postgres_store.ts";
import { closeBoth, connectToPrimary } from "./primary.ts";

/** Time limit of the connection. */
const CONNECT_LIMIT_MS = 10_000;

/** Number of records per read. */
const BATCH = 500;

/**
 * Parameters: the last key that was read, and the bytes before and after the number in a key that is left out. SQL
 * counts bytes from 1. The time is at most the latest one of a `Date`.
 */
const SELECT = {
  text: `
    select key, least(extract(epoch from expires_at) * 1000, 8640000000000000)
    from animal_store.records
    where expires_at is not null and key > $1 and not (
      pg_catalog.substr(key, 1, pg_catalog.length($2::pg_catalog.bytea)) = $2 and
      pg_catalog.substr(key, pg_catalog.length($2) + ${ENCODED_NUMBER_BYTES + 1},
        pg_catalog.length($3::pg_catalog.bytea)) = $3)
    order by key limit ${BATCH}`,
};

/** Reads the records of a database that expire, without those whose keys have these bytes before and after a number. */
export async function* readExpiringRecords(
  settings: PostgresSettings,
  runtime: Runtime,
  space: Uint8Array,
  kind: Uint8Array,
): AsyncGenerator<ExpiringRecord> {
  const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
  const primary = await connectToPrimary(settings, runtime, signal);
  try {
    let rows: Row[];
    let last: Uint8Array = new Uint8Array();
    do {
      rows = await primary.reads.read(SELECT, [last, space, kind]);
      for (const [key, expiresAt] of rows) {
        last = bytesOf(key);
        yield { key: decodeKey(last), expiresAt: Number(expiresAt) };
      }
    } while (rows.length === BATCH);
  } finally {
    closeBoth(primary);
  }
}
