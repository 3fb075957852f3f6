import type { Runtime } from "../runtime/runtime.ts";
import { SqliteReader } from "./deno_kv/sqlite_reader.ts";
import { encodeKey } from "./key_encoding.ts";
import type { ExpiringRecord, Key } from "./store.ts";
import type { StoreLocation } from "./store_location.ts";

/** Reads the records that expire. */
export type ReadExpiringRecords = () => ExpiringRecord[] | Promise<ExpiringRecord[]>;

/**
 * Returns the reader for a store; `undefined` if the store does not expose expiry times, as KV's interface and KV
 * Connect do not. It leaves out the records whose keys begin as the given one, with any number in the second place.
 */
export function expiringRecordsOf(
  location: StoreLocation,
  runtime: Runtime,
  someKey: Key,
): ReadExpiringRecords | undefined {
  const [space, , kind] = someKey;
  const leftOut = [encodeKey([space]), encodeKey([kind])] as const;
  if (location.kind === "file") {
    return () => {
      using reader = new SqliteReader(location.path);
      return reader.expiringRecords(...leftOut);
    };
  }
  if (location.kind !== "postgres") return undefined;
  return async () => {
    const { PostgresStore } = await import("./postgres/postgres_store.ts");
    // This store commits nothing, so any key can be the guard.
    const options = { create: false, guardKeys: [someKey] };
    const signal = AbortSignal.timeout(10_000);
    const store = await PostgresStore.open(location.settings, runtime, options, signal);
    try {
      return await store.expiringRecords(...leftOut);
    } finally {
      store.close();
    }
  };
}
