/** The file of a store: a SQLite database that Deno KV opens. */

import type { Stats } from "node:fs";
import { mkdir, open, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { StoreRefusedError } from "../store_errors.ts";
import type { FileLocation, StoreLocation } from "../open_store.ts";
import { SqliteReader } from "./sqlite_reader.ts";

/**
 * Makes sure that a file can be opened as a store. Only the folder of the default path is created, because another that
 * is missing is usually mistyped. Rejects with {@linkcode StoreRefusedError}, or the system's error.
 */
export async function prepareFile(location: FileLocation, create: boolean): Promise<void> {
  const { path, isDefault } = location;
  const file = await statOf(path);
  if (file === undefined) {
    if (!create) throw new StoreRefusedError("there is no such file");
    await expectFolder(location);
    if (isDefault) await mkdir(dirname(path), { recursive: true });
    // Only for its owner: SQLite would let all users read it. The files next to it get its mode.
    await (await open(path, "a", 0o600)).close();
    return;
  }
  if (file.isDirectory()) throw new StoreRefusedError("it is a folder");
  if (file.size === 0) return;
  // Read-only: opening another program's database as KV would add KV's tables to it.
  using reader = new SqliteReader(path);
  const tables = reader.query("select name from sqlite_master where type = 'table'");
  if (tables.length === 0 || tables.some(({ name }) => name === "kv")) return;
  throw new StoreRefusedError("it is a database of another program");
}

/** Rejects with {@linkcode StoreRefusedError} if the folder of a file does not exist. */
export async function expectFolder({ path, isDefault }: FileLocation): Promise<void> {
  if (isDefault || await statOf(dirname(path)) !== undefined) return;
  throw new StoreRefusedError("its folder does not exist; create it, or correct the path");
}

/** Whether opening the store would create its file. A path under which nothing can exist is an error of the opening. */
export async function isMissingFile(location: StoreLocation): Promise<boolean> {
  return location.kind === "file" && await statOf(location.path).catch(() => null) === undefined;
}

/** Resolves to `undefined` if the file does not exist. */
export function statOf(path: string): Promise<Stats | undefined> {
  return stat(path).catch((error) => error.code === "ENOENT" ? undefined : Promise.reject(error));
}

/** Queries that Deno KV makes when it opens a file. If one fails, Deno panics, which ends the process. */
const OPENING_QUERIES = [
  "select expiration_ms from kv where expiration_ms >= 0 order by expiration_ms limit 1",
  "select ts from queue order by ts limit 1",
];

/** Throws `StoreDamagedError` if an index is damaged that Deno KV reads when it opens the file. */
export function expectUsableIndexes(path: string): void {
  using reader = new SqliteReader(path);
  const isNew = reader.query("select 1 from sqlite_master").length === 0;
  if (!isNew) OPENING_QUERIES.forEach((query) => reader.query(query));
}
