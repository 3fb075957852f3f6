import { reasonOf } from "../runtime/logger.ts";
import { HEAD_KEY, LOG_PREFIX } from "../keyspace.ts";
import { decodeHeadRecord } from "../log/head.ts";
import { KvStore } from "./deno_kv/kv_store.ts";
import { isRemote, RemoteStore } from "./deno_kv/remote_store.ts";
import { isFile, prepareFile } from "./deno_kv/store_file.ts";
import type { Store } from "./store.ts";
import { StoreRefusedError } from "./store_errors.ts";

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
const CONNECT_LIMIT_MS = 3_000;

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
  if (isRemote(path)) {
    const store = new RemoteStore(path, expect);
    await connect(store, path);
    return store;
  }
  let store: Store | undefined;
  try {
    if (isFile(path)) await prepareFile(path, create);
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
  if (!isRemote(path)) return await openStore(path, { create: true });
  let isWaiting = false;
  const store = new RemoteStore(path, expectOurs, ({ message }) => {
    if (isWaiting) onRefused(new OpenStoreError(path, message));
  });
  try {
    await connect(store, path);
  } catch (error) {
    if (!(error as OpenStoreError).isAway) throw error;
    isWaiting = true;
  }
  return store;
}

/** Connects for the first time, within a limit of time. */
async function connect({ connection }: RemoteStore, path: string | undefined): Promise<void> {
  const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.onabort = () => reject(new Error(`it does not answer within ${CONNECT_LIMIT_MS} ms`));
  try {
    await Promise.race([connection.reopen(signal), late]);
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
