import { GUARD_KEYS, SOME_IDEMPOTENCY_KEY } from "../../src/keyspace.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { SqliteReader } from "../../src/store/deno_kv/sqlite_reader.ts";
import { encodeKey } from "../../src/store/key_encoding.ts";
import type { StoreLocation } from "../../src/store/open_store.ts";
import type { AuditDeps } from "../verify/audit.ts";

/** The bytes that a key has if the record must expire. */
const MUST_EXPIRE = encodeKey(SOME_IDEMPOTENCY_KEY.slice(2));

/** Reads the records that expire, or must; `undefined` if a store hides its times of expiry, as KV and KV Connect do. */
export function expiringRecordsOf(location: StoreLocation): AuditDeps["readExpiringRecords"] {
  if (location.kind === "file") {
    return function* () {
      using reader = new SqliteReader(location.path);
      yield* reader.expiringRecords(MUST_EXPIRE);
    };
  }
  if (location.kind !== "postgres") return undefined;
  return async function* () {
    const { PostgresStore } = await import("../../src/store/postgres/postgres_store.ts");
    const options = { create: false, guardKeys: GUARD_KEYS, runtime: systemRuntime };
    const store = await PostgresStore.open(location.settings, options, AbortSignal.timeout(10_000));
    try {
      yield* store.expiringRecords(MUST_EXPIRE);
    } finally {
      store.close();
    }
  };
}
