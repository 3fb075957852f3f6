import { DatabaseSync } from "node:sqlite";
import { reasonOf } from "../runtime/logger.ts";
import { HEAD_KEY, LOG_PREFIX } from "../keyspace.ts";
import { decodeHeadRecord } from "../log/head.ts";
import { KvStore } from "./deno_kv/kv_store.ts";
import { RemoteStore, StoreRefusedError } from "./deno_kv/remote_store.ts";
import type { Store } from "./store.ts";

/** The store cannot be opened, or it is not ours. The message names the store and the reason, on one line. */
export class OpenStoreError extends Error {
  override name = "OpenStoreError";

  /** Whether a remote store did not answer, so that it may become available later. */
  readonly isAway: boolean;

  constructor(path: string | undefined, reason: string, isAway = false) {
    const name = path === undefined ? "the attached database" : path;
    super(`Cannot open the store ${name} (KV_PATH): ${reason}`);
    this.isAway = isAway;
  }
}

/** Time limit of the first connection to a remote store. */
const REACH_LIMIT_MS = 3_000;

export interface OpenOptions {
  /** Whether a missing file is created. */
  create: boolean;
  /** Whether data without a head is accepted, so that a tool can examine it. */
  examined?: boolean;
  /** Whether any data is accepted, because a restore checks the content itself. */
  restored?: boolean;
}

/**
 * Opens the store at a path: a file, `:memory:`, an http(s) address, or `undefined` for the database
 * that the platform attaches. Rejects with `OpenStoreError`. It does not change files of other programs.
 */
export async function openStore(
  path: string | undefined,
  { create, examined = false, restored = false }: OpenOptions,
): Promise<Store> {
  const expect = restored ? () => Promise.resolve() : examined ? expectRestored : expectOurs;
  if (path === undefined || isAddress(path)) {
    const store = new RemoteStore(path, expect);
    await reach(store, path);
    return store;
  }
  if (path !== ":memory:") await prepareFile(path, create);
  let store: Store | undefined;
  try {
    store = new KvStore(await Deno.openKv(path));
    await expect(store);
    return store;
  } catch (error) {
    store?.close();
    throw new OpenStoreError(path, reasonOf(error));
  }
}

/**
 * Opens a store like {@linkcode openStore}, for a service. If a remote store is away, this returns it
 * anyway, and it connects when it is back. If it then turns out to be unusable, `onRefused` is called.
 */
export async function openStoreOrWait(
  path: string | undefined,
  onRefused: (error: OpenStoreError) => void,
): Promise<Store> {
  if (path !== undefined && !isAddress(path)) return await openStore(path, { create: true });
  let isWaiting = false;
  const store = new RemoteStore(path, expectOurs, ({ message }) => {
    if (isWaiting) onRefused(new OpenStoreError(path, message));
  });
  try {
    await reach(store, path);
  } catch (error) {
    if (!(error as OpenStoreError).isAway) throw error;
    isWaiting = true;
  }
  return store;
}

export function isAddress(path: string): boolean {
  return /^https?:/i.test(path);
}

/** Connects for the first time, within a limit of time. */
async function reach(store: RemoteStore, path: string | undefined): Promise<void> {
  const signal = AbortSignal.timeout(REACH_LIMIT_MS);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.onabort = () => reject(new Error(`it does not answer within ${REACH_LIMIT_MS} ms`));
  try {
    await Promise.race([store.reconnect(signal), late]);
  } catch (error) {
    throw new OpenStoreError(path, reasonOf(error), !(error instanceof StoreRefusedError));
  }
}

/** Accepts a store with a head, and an empty store. Rejects with `StoreRefusedError`. */
async function expectOurs(store: Store): Promise<void> {
  await expectRestored(store);
  // In this order, because another instance may write the first event meanwhile.
  const isEmpty = (await store.list({ prefix: [] }, { limit: 1 })).length === 0;
  if (isEmpty || await store.get(HEAD_KEY) !== null) return;
  const isLog = (await store.list({ prefix: LOG_PREFIX }, { limit: 1 })).length > 0;
  throw new StoreRefusedError(
    isLog
      ? "its head record is missing; run deno task audit, and restore the store from an export"
      : "it holds the data of another program",
  );
}

async function expectRestored(store: Store): Promise<void> {
  if (decodeHeadRecord((await store.get(HEAD_KEY))?.value).kind !== "restore_mark") return;
  throw new StoreRefusedError(
    "a restore into it is under way or was broken off; run it again to its end, with the same export",
  );
}

/** Whether the data at a path outlives the process. */
export function isDurable(path: string | undefined): boolean {
  return path !== ":memory:";
}

async function prepareFile(path: string, create: boolean): Promise<void> {
  const stat = await statOf(path);
  if (stat === undefined) {
    if (!create) throw new OpenStoreError(path, "there is no such file");
    return await makeFolder(path);
  }
  if (stat.isDirectory) throw new OpenStoreError(path, "it is a folder");
  if (stat.size > 0 && !isKvFile(path)) {
    throw new OpenStoreError(path, "it is a database of another program");
  }
}

async function statOf(path: string): Promise<Deno.FileInfo | undefined> {
  try {
    return await Deno.stat(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw new OpenStoreError(path, reasonOf(error));
  }
}

async function makeFolder(path: string): Promise<void> {
  const folder = path.slice(0, path.lastIndexOf("/") + 1);
  if (folder === "") return;
  try {
    await Deno.mkdir(folder, { recursive: true });
  } catch (error) {
    throw new OpenStoreError(path, reasonOf(error));
  }
}

/** Checks the file read-only: opening another program's database as KV would add KV's tables to it. */
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
    throw new OpenStoreError(path, reasonOf(error));
  }
}
