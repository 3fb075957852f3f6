/**
 * The records of a store that have an expiry time. KV's interface and KV Connect do not expose it; the
 * SQLite file does.
 */

import { DatabaseSync } from "node:sqlite";
import { decodeKey, ENCODED_NUMBER_BYTES, encodeKey } from "../key_encoding.ts";
import { petByIdempotencyKeyKey, projectionKey } from "../../keyspace.ts";
import type { Key } from "../store.ts";
import { isFile } from "./store_file.ts";

/** A record that the store removes at `expiresAt`, in milliseconds since the Unix epoch. */
export interface ExpiringRecord {
  key: Key;
  expiresAt: number;
}

/** Reads the records that expire, except idempotency records, which must expire. */
export type ReadExpiringRecords = () => Iterable<ExpiringRecord>;

/** Returns the reader for the store at a path; `undefined` if the store does not expose expiry times. */
export function expiringRecordsOf(path: string | undefined): ReadExpiringRecords | undefined {
  return isFile(path) ? () => readFile(path) : undefined;
}

/** Number of records per read. */
const BATCH = 500;

/** How long a read waits for a locked file. */
const BUSY_LIMIT_MS = 10_000;

/** The latest time that a `Date` can represent, in milliseconds since the Unix epoch. */
const LAST_TIME = 8_640_000_000_000_000n;

const [SPACE, , KIND] = projectionKey(1, petByIdempotencyKeyKey("", "")) as [
  string,
  number,
  string,
];
const ENCODED_SPACE = encodeKey([SPACE]);
const ENCODED_KIND = encodeKey([KIND]);

/** Reads in the order of an index, after the last record read. SQL counts bytes from 1. */
const SELECT = `select k, expiration_ms from kv
  where expiration_ms >= 0 and (expiration_ms, k) > (?, ?)
    and not (substr(k, 1, ${ENCODED_SPACE.length}) = ? and
      substr(k, ${ENCODED_SPACE.length + ENCODED_NUMBER_BYTES + 1}, ${ENCODED_KIND.length}) = ?)
  order by expiration_ms, k limit ${BATCH}`;

/** Reads each batch in a separate query: one long read would keep writers from cleaning up the file. */
function* readFile(path: string): Generator<ExpiringRecord> {
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
        ENCODED_SPACE,
        ENCODED_KIND,
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
