/** The location of a store, and its name in messages. */

import { assertNever } from "../encoding/assert_never.ts";
import { databaseName, type PostgresSettings } from "./postgres/database_url.ts";

/** A file that Deno KV opens. The folder of the default path is created. */
export type FileLocation = { kind: "file"; path: string; isDefault: boolean };

/** The location of a store. `attached` is the database that the platform attaches; `kv_connect` is an http(s) address. */
export type StoreLocation =
  | FileLocation
  | { kind: "memory" | "attached" }
  | { kind: "kv_connect"; address: string }
  | { kind: "postgres"; settings: PostgresSettings };

/** The name of a store, without secrets. */
export function storeName(location: StoreLocation): string {
  switch (location.kind) {
    case "file":
      return location.path;
    case "memory":
      return ":memory:";
    case "attached":
      return "(the attached database)";
    case "kv_connect":
      return location.address;
    case "postgres":
      return databaseName(location.settings);
    default:
      return assertNever(location);
  }
}
