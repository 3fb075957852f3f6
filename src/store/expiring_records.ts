/** The records of a store that have an expiry time. */

import { petByIdempotencyKeyKey, projectionKey } from "../keyspace.ts";
import { encodeKey } from "./key_encoding/key_encoding.ts";
import type { Key } from "./store.ts";

/** A record that the store removes at `expiresAt`, in milliseconds since the Unix epoch. */
export interface ExpiringRecord {
  key: Key;
  expiresAt: number;
}

/** Reads the records that expire, except idempotency records, which must expire. */
export type ReadExpiringRecords = () => Iterable<ExpiringRecord> | AsyncIterable<ExpiringRecord>;

const [SPACE, , KIND] = projectionKey(1, petByIdempotencyKeyKey("", ""));

/** How the encoded key of an idempotency record begins, and how it continues after a number. */
export const IDEMPOTENCY_RECORDS = { space: encodeKey([SPACE]), kind: encodeKey([KIND]) };
