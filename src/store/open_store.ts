import { reasonOf } from "../runtime/logger.ts";
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
    const name = path === undefined ? "(the attached database)" : path;
    super(`Cannot open the store ${name} (KV_PATH): ${reason}`);
    this.isAway = isAway;
  }
}

/** Time limit of the first connection to a remote store. */
const CONNECT_LIMIT_MS = 3_000;

export interface OpenOptions {
  /** Whether a missing file is created. */
  create: boolean;
  accept: AcceptStore;
}

/** Decides whether an opened store may be used, by its content. Rejects with `StoreRefusedError` if not. */
export type AcceptStore = (store: Store) => Promise<void>;

/**
 * Opens the store at a path: a file, `:memory:`, an http(s) address, or `undefined` for the database
 * that the platform attaches. Rejects with `OpenStoreError`. It does not change files of other programs.
 */
export async function openStore(
  path: string | undefined,
  { create, accept }: OpenOptions,
): Promise<Store> {
  if (isRemote(path)) {
    const store = new RemoteStore(path, accept);
    await connect(store, path);
    return store;
  }
  let store: Store | undefined;
  try {
    if (isFile(path)) await prepareFile(path, create);
    store = new KvStore(await Deno.openKv(path));
    await accept(store);
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
  accept: AcceptStore,
  onRefused: (error: OpenStoreError) => void,
): Promise<Store> {
  if (!isRemote(path)) return await openStore(path, { create: true, accept });
  let isWaiting = false;
  const store = new RemoteStore(path, accept, ({ message }) => {
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

/** Whether the data at a path outlives the process. */
export function isDurable(path: string | undefined): boolean {
  return path !== ":memory:";
}
