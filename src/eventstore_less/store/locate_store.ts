import { statSync } from "node:fs";
import { reasonOf } from "../runtime/logger.ts";
import { realPath } from "../runtime/real_path.ts";
import { OpenStoreError } from "./open_store_error.ts";
import type { NamedStore, StoreLocation } from "./store_location.ts";

/**
 * Follows the symbolic links to a store, once for each process: a link that moves later must not split its files. Throws
 * `OpenStoreError` if a link leads to nothing, or if the write-ahead log of the store may lie beside the link.
 */
export function locateStore(store: NamedStore): StoreLocation {
  if (store.kind !== "named_file") return store;
  const { name, isDefault } = store;
  try {
    const path = realPath(name);
    if (path === name) return { kind: "file", path, isDefault };
    expectNoOtherLog(name, path);
    return { kind: "file", path, isDefault, link: name };
  } catch (error) {
    throw new OpenStoreError(store, reasonOf(error));
  }
}

/** SQLite reads only the log beside the file, so the changes in another one would be lost without a word. */
function expectNoOtherLog(link: string, path: string): void {
  const [log, found] = [`${path}-wal`, `${link}-wal`];
  const [ofPath, ofLink] = [log, found].map((file) => statSync(file, { throwIfNoEntry: false }));
  if (ofLink === undefined || ofLink.size === 0) return;
  if (ofLink.dev === ofPath?.dev && ofLink.ino === ofPath.ino) return;
  const reason = `its log must lie beside the file ${path}, but ${found} may have changes of it`;
  throw new Error(`${reason}; if it belongs to the store, move it to ${log}, otherwise elsewhere`);
}
