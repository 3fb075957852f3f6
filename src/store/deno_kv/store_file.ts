/** The file of a store: a SQLite database that Deno KV opens. */

import { DatabaseSync } from "node:sqlite";
import { StoreRefusedError } from "../store_errors.ts";

/**
 * Makes sure that a file can be opened as a store. A missing file is refused unless `create` is set; then
 * its folder is created. Rejects with {@linkcode StoreRefusedError}, or the system's error.
 */
export async function prepareFile(path: string, create: boolean): Promise<void> {
  const stat = await statOf(path);
  if (stat === undefined) {
    if (!create) throw new StoreRefusedError("there is no such file");
    return await makeFolder(path);
  }
  if (stat.isDirectory) throw new StoreRefusedError("it is a folder");
  if (stat.size > 0 && !isKvFile(path)) {
    throw new StoreRefusedError("it is a database of another program");
  }
}

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function makeFolder(path: string): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  if (folder !== "") await Deno.mkdir(folder, { recursive: true });
}

/** Checks the file read-only: opening another program's database as KV would add KV's tables to it. */
function isKvFile(path: string): boolean {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
    return tables.length === 0 || tables.some(({ name }) => name === "kv");
  } finally {
    database.close();
  }
}
