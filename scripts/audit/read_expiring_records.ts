import { GUARD_KEYS, SOME_IDEMPOTENCY_KEY } from "../../src/keyspace.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { SqliteReader } from "../../src/store/deno_kv/sqlite_reader.ts";
import { encodeKey } from "../../src/store/key_encoding.ts";
import type { ExpiringRecord } from "../../src/store/store.ts";
import type { StoreLocation } from "../../src/store/store_location.ts";

/** The bytes that a key has if the record may expire. */
const MAY_EXPIRE = encodeKey(SOME_IDEMPOTENCY_KEY.slice(2));

/**
 * Returns the reader for a store; `undefined` if the store does not expose expiry times, as KV's interface and KV
 * Connect do not. It leaves out the idempotency records.
 */
export function expiringRecordsOf(
  location: StoreLocation,
): (() => ExpiringRecord[] | Promise<ExpiringRecord[]>) | undefined {
  if (location.kind === "file") {
    return () => {
      using reader = new SqliteReader(location.path);
      return reader.expiringRecords(MAY_EXPIRE);
    };
  }
  if (location.kind !== "postgres") return undefined;
  return async () => {
    const { PostgresStore } = await import("../../src/store/postgres/postgres_store.ts");
    const options = { create: false, guardKeys: GUARD_KEYS, runtime: systemRuntime };
    const signal = AbortSignal.timeout(10_000);
    const store = await PostgresStore.open(location.settings, options, signal);
    try {
      return await store.expiringRecords(MAY_EXPIRE);
    } finally {
      store.close();
    }
  };
}
