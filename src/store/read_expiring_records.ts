import type { Runtime } from "../runtime/runtime.ts";
import { readExpiringRecords } from "./deno_kv/expiring_records.ts";
import { encodeKey } from "./key_encoding/key_encoding.ts";
import type { Key } from "./store.ts";
import type { StoreLocation } from "./store_location.ts";

/** A record that the store removes at `expiresAt`, in milliseconds since the Unix epoch. */
export interface ExpiringRecord {
  key: Key;
  expiresAt: number;
}

/** Reads the records that expire. */
export type ReadExpiringRecords = () => Iterable<ExpiringRecord> | AsyncIterable<ExpiringRecord>;

/** How the encoded keys of the records begin that are left out, and how they continue after a number. */
export interface LeftOut {
  space: Uint8Array;
  kind: Uint8Array;
}

/**
 * Returns the reader for a store; `undefined` if the store does not expose expiry times, as KV's interface and KV
 * Connect do not. It leaves out the records whose keys begin as the given one, with any number in the second place.
 */
export function expiringRecordsOf(
  location: StoreLocation,
  runtime: Runtime,
  [space, , kind]: Key,
): ReadExpiringRecords | undefined {
  const leftOut = { space: encodeKey([space]), kind: encodeKey([kind]) };
  if (location.kind === "file") return () => readExpiringRecords(location.path, leftOut);
  if (location.kind !== "postgres") return undefined;
  return async function* () {
    const { readExpiringRecords } = await import("./postgres/expiring_records.ts");
    yield* readExpiringRecords(location.settings, runtime, leftOut);
  };
}
