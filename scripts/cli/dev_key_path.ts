import { DEFAULT_KV_PATH } from "../../src/store/default_path.ts";

/**
 * The file that keeps the development key of a store: next to a store file, otherwise in the default folder of
 * stores. `undefined` for a store in memory, whose key ends with the process.
 */
export function devKeyPath(kvPath: string | undefined): string | undefined {
  if (kvPath === undefined || kvPath === ":memory:") return undefined;
  const isAddress = /^https?:\/\//i.test(kvPath);
  const folder = DEFAULT_KV_PATH.slice(0, DEFAULT_KV_PATH.lastIndexOf("/"));
  return `${isAddress ? `${folder}/${encodeURIComponent(kvPath)}` : kvPath}.dev_key`;
}
