import type { Runtime } from "../runtime/runtime.ts";
import { readExpiringRecords } from "./deno_kv/expiring_records.ts";
import type { ExpiringRecord, ReadExpiringRecords } from "./expiring_records.ts";
import type { PostgresSettings } from "./postgres/database_url.ts";
import { isFile, type StoreLocation } from "./store_location.ts";

/**
 * Returns the reader for a store; `undefined` if the store does not expose expiry times, as KV's interface and
 * KV Connect do not.
 */
export function expiringRecordsOf(
  location: StoreLocation,
  runtime: Runtime,
): ReadExpiringRecords | undefined {
  if (typeof location === "object") return () => readDatabase(location, runtime);
  return isFile(location) ? () => readExpiringRecords(location) : undefined;
}

async function* readDatabase(
  settings: PostgresSettings,
  runtime: Runtime,
): AsyncGenerator<ExpiringRecord> {
  const { readExpiringRecords } = await import("./postgres/expiring_records.ts");
  yield* readExpiringRecords(settings, runtime);
}
