import type { StoreLocation } from "eventstore-less/startup";
import { SqliteReader } from "eventstore-less/store";
import type { AuditDeps } from "eventstore-less/tools";

/** Reads the records that a store will remove; `undefined` if it hides them, as Deno KV in memory and KV Connect do. */
export function expiringRecordsOf(location: StoreLocation): AuditDeps["readExpiringRecords"] {
  // The tables of PostgreSQL have no times of expiry.
  if (location.kind === "postgres") return () => [];
  if (location.kind !== "file") return undefined;
  return function* () {
    using reader = new SqliteReader(location.path);
    yield* reader.expiringRecords();
  };
}
