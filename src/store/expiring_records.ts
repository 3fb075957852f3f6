/**
 * The records of a store that are set to expire. Neither KV's interface exposes them, nor KV
 * Connect; the SQLite file does.
 */

import { DatabaseSync } from "node:sqlite";
import { decodeKey, ENCODED_NUMBER_BYTES, encodeTextPart } from "./key_encoding.ts";
import { petByIdempotencyKeyKey, projectionKey } from "./keyspace.ts";
import { isAddress } from "./open_store.ts";

/** A record that the store removes at a time, in milliseconds since the Unix epoch. */
export interface ExpiringRecord {
  key: Deno.KvKey;
  expiresAt: number;
}

/** Reads the records that expire, without idempotency records, which must expire. */
export type ReadExpiringRecords = () => Iterable<ExpiringRecord>;

/** How to read them from the store at a path; `undefined` if its engine does not expose them. */
export function expiringRecordsOf(path: string | undefined): ReadExpiringRecords | undefined {
  if (path === undefined || path === ":memory:" || isAddress(path)) return undefined;
  return () => readFile(path);
}

/** How many records are read at once. */
const BATCH = 500;

/** How long a file that is locked is waited for. */
const BUSY_LIMIT_MS = 10_000;

/** The last time that a `Date` can show. */
const LAST_TIME = 8_640_000_000_000_000n;

const [SPACE, , KIND] = projectionKey(1, petByIdempotencyKeyKey("", "")) as [
  string,
  number,
  string,
];
const ENCODED_SPACE = encodeTextPart(SPACE);
const ENCODED_KIND = encodeTextPart(KIND);

/** In the order of an index, from the last record read on. SQL counts bytes from 1. */
const SELECT = `select k, expiration_ms from kv
  where expiration_ms >= 0 and (expiration_ms, k) > (?, ?)
    and not (substr(k, 1, ${ENCODED_SPACE.length}) = ? and
      substr(k, ${ENCODED_SPACE.length + ENCODED_NUMBER_BYTES + 1}, ${ENCODED_KIND.length}) = ?)
  order by expiration_ms, k limit ${BATCH}`;

/** Each batch is a read of its own, so that none keeps writers from tidying the file up. */
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
