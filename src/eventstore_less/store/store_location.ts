/** The location of a store, and its name in messages. */

import { databaseName, type PostgresSettings } from "./postgres/database_url.ts";

/**
 * A file that Deno KV opens. No symbolic link lies on its path, because SQLite finds the other files of a store by the
 * path; `link` is the name in the settings if it leads to the path through one. The folder of the default path is
 * created.
 */
export type FileLocation = { kind: "file"; path: string; isDefault: boolean; link?: string };

/** `attached` is the database that the platform attaches; `kv_connect` is an http(s) address. */
export type OtherLocation =
  | { kind: "memory" | "attached" }
  | { kind: "kv_connect"; address: string }
  | { kind: "postgres"; settings: PostgresSettings };

/** The location of a store. */
export type StoreLocation = FileLocation | OtherLocation;

/** The store that the settings name. `locateStore()` follows the symbolic links of a file. */
export type NamedStore = { kind: "named_file"; name: string; isDefault: boolean } | OtherLocation;

/** The name of a store, without secrets. */
export function storeName(location: StoreLocation | NamedStore): string {
  switch (location.kind) {
    case "named_file":
      return location.name;
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
  }
}
