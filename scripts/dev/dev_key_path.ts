import { DEFAULT_KV_PATH } from "../../src/settings/default_kv_path.ts";
import { type StoreLocation, storeName } from "../../src/store/store_location.ts";

/**
 * The file that keeps the development key of a store: next to a store file, otherwise in the default folder of
 * stores. `undefined` for a store in memory, whose key ends with the process.
 */
export function devKeyPath(store: StoreLocation): string | undefined {
  if (store.kind === "attached" || store.kind === "memory") return undefined;
  if (store.kind === "file") return `${store.path}.dev_key`;
  const folder = DEFAULT_KV_PATH.slice(0, DEFAULT_KV_PATH.lastIndexOf("/"));
  return `${folder}/${encodeURIComponent(storeName(store))}.dev_key`;
}
