import { DEFAULT_KV_PATH } from "../../src/settings/default_kv_path.ts";
import { databaseName } from "../../src/store/postgres/database_url.ts";
import { isDurable, isFile, type StoreLocation } from "../../src/store/store_location.ts";

/**
 * The file that keeps the development key of a store: next to a store file, otherwise in the default folder of
 * stores. `undefined` for a store in memory, whose key ends with the process.
 */
export function devKeyPath(store: StoreLocation): string | undefined {
  if (store === undefined || !isDurable(store)) return undefined;
  if (isFile(store)) return `${store}.dev_key`;
  const name = typeof store === "object" ? databaseName(store) : store;
  const folder = DEFAULT_KV_PATH.slice(0, DEFAULT_KV_PATH.lastIndexOf("/"));
  return `${folder}/${encodeURIComponent(name)}.dev_key`;
}
