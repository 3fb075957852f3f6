import { DatabaseSync } from "node:sqlite";
import { reasonOf } from "../report.ts";
import { HEAD_KEY } from "./layout.ts";
import { KvStore } from "./kv_store.ts";
import type { Store } from "./store.ts";

/** The store cannot be opened or is not ours; the message says which and why, on one line. */
export class OpenStoreError extends Error {
  override name = "OpenStoreError";
}

/**
 * Opens the store at a path: a file, `:memory:`, an http(s) address, or `undefined` for the database
 * that the platform attaches. A file that is not there is made only where `create` says so. Throws
 * `OpenStoreError`, and leaves files that are no store of ours as they were.
 */
export async function openStore(path: string | undefined, create: boolean): Promise<Store> {
  const isFile = path !== undefined && isDurable(path) && !/^https?:/.test(path);
  if (isFile) await prepareFile(path, create);
  let store: Store;
  try {
    store = new KvStore(await Deno.openKv(path));
  } catch (error) {
    throw failedToOpen(path, reasonOf(error));
  }
  try {
    const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
    if (isEmpty || await store.get(HEAD_KEY) !== null) return store;
  } catch (error) {
    store.close();
    throw failedToOpen(path, reasonOf(error));
  }
  store.close();
  throw failedToOpen(path, "it holds the data of another program");
}

/** Whether what is stored there outlives the process. */
export function isDurable(path: string | undefined): boolean {
  return path !== ":memory:";
}

async function prepareFile(path: string, create: boolean): Promise<void> {
  let size: number;
  try {
    const stat = await Deno.stat(path);
    if (stat.isDirectory) throw failedToOpen(path, "it is a folder");
    size = stat.size;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw failedToOpen(path, reasonOf(error));
    if (!create) throw failedToOpen(path, "there is no such file");
    return await makeFolder(path);
  }
  if (size > 0 && !isKvFile(path)) {
    throw failedToOpen(path, "it is a database of another program");
  }
}

async function makeFolder(path: string): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  if (folder === "") return;
  try {
    await Deno.mkdir(folder, { recursive: true });
  } catch (error) {
    throw failedToOpen(path, reasonOf(error));
  }
}

/** Looks without writing: opening a database of another program as KV would add KV's tables to it. */
function isKvFile(path: string): boolean {
  try {
    const database = new DatabaseSync(path, { readOnly: true });
    try {
      const tables = database.prepare("select name from sqlite_master where type = 'table'").all();
      return tables.length === 0 || tables.some(({ name }) => name === "kv");
    } finally {
      database.close();
    }
  } catch (error) {
    throw failedToOpen(path, reasonOf(error));
  }
}

function failedToOpen(path: string | undefined, reason: string): OpenStoreError {
  const name = path === undefined ? "the attached database" : path;
  return new OpenStoreError(`Cannot open the store ${name} (KV_PATH): ${reason}`);
}
