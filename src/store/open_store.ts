import { reasonOf } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { damageOf, KV_LIMITS, KvStore } from "./deno_kv/kv_store.ts";
import { KvConnector } from "./deno_kv/kv_connector.ts";
import { expectUsableIndexes, prepareFile } from "./deno_kv/store_file.ts";
import { SqliteReader } from "./deno_kv/sqlite_reader.ts";
import { databaseName } from "./postgres/database_url.ts";
import { ReconnectingStore } from "./resilience/reconnecting_store.ts";
import { isFile, isRemote, locationName, type StoreLocation } from "./store_location.ts";
import type { Store } from "./store.ts";
import { type StoreDamagedError, StoreRefusedError } from "./store_errors.ts";

/** The store cannot be opened, or it is not ours. The message names the store and the reason, on one line. */
export class OpenStoreError extends Error {
  override name = "OpenStoreError";

  /** Whether a remote store did not answer, so that it may become available later. */
  readonly isAway: boolean;
  /** Set if the file of the store is damaged. */
  readonly damage: StoreDamagedError | undefined;

  constructor(
    location: StoreLocation,
    reason: string,
    { isAway = false, damage }: { isAway?: boolean; damage?: StoreDamagedError } = {},
  ) {
    super(`Cannot open ${locationName(location)}: ${reason.replaceAll("\n", " ")}`);
    this.isAway = isAway;
    this.damage = damage;
  }
}

/** Time limit of the first connection to a remote store. */
const CONNECT_LIMIT_MS = 3_000;

export interface OpenOptions {
  /** Whether a missing file is created, and the tables in an empty database. */
  create: boolean;
  accept: AcceptStore;
  runtime: Runtime;
  /** Called after the tables were created in a database, which it names. */
  onSchemaCreated?: (database: string) => void;
}

/** Decides whether an opened store may be used, by its content. Rejects with `StoreRefusedError` if not. */
export type AcceptStore = (store: Store) => Promise<void>;

/** Opens a store. Rejects with `OpenStoreError`. It does not change files or databases of other programs. */
export async function openStore(location: StoreLocation, options: OpenOptions): Promise<Store> {
  if (!isRemote(location)) return await openLocalStore(location, options);
  const store = await remoteStore(location, options);
  await connect(store, location);
  return store;
}

/** With a reader, reads do not wait for commits. Without, the scans of a tool take less processor time. */
async function openLocalStore(
  location: StoreLocation,
  { create, accept }: OpenOptions,
  hasReader = false,
): Promise<Store> {
  let store: Store | undefined;
  try {
    if (isFile(location)) {
      await prepareFile(location, create);
      await expectUsableIndexes(location);
    }
    const kv = await Deno.openKv(location as string);
    store = new KvStore(kv);
    // A wait for a lock would block the thread, so the service retries instead.
    if (hasReader && isFile(location)) store = new KvStore(kv, new SqliteReader(location, 0));
    await accept(store);
    return store;
  } catch (error) {
    store?.close();
    const damage = damageOf(error);
    const reason = damage &&
      `it is damaged, or not a store: ${damage.reason}; run deno task audit`;
    throw new OpenStoreError(location, reason ?? reasonOf(error), { damage });
  }
}

/** Opens the file of a store only to read it, without Deno KV. Rejects with `OpenStoreError`. */
export async function openFileToRead(path: string): Promise<SqliteReader> {
  try {
    await prepareFile(path, false);
    return new SqliteReader(path);
  } catch (error) {
    const damage = damageOf(error);
    const reason = damage && `its file is damaged, and none of it can be read: ${damage.reason}`;
    throw new OpenStoreError(path, reason ?? reasonOf(error), { damage });
  }
}

/**
 * Opens a store like {@linkcode openStore}, for a service. If a remote store is away, this returns it
 * anyway, and it connects when it is back. If it then turns out to be unusable, `onRefused` is called.
 */
export async function openStoreOrWait(
  location: StoreLocation,
  options: Omit<OpenOptions, "create">,
  onRefused: (error: OpenStoreError) => void,
): Promise<Store> {
  const created = { ...options, create: true };
  if (!isRemote(location)) return await openLocalStore(location, created, true);
  let isWaiting = false;
  const store = await remoteStore(location, created, ({ message }) => {
    if (isWaiting) onRefused(new OpenStoreError(location, message));
  });
  try {
    await connect(store, location);
  } catch (error) {
    if (!(error as OpenStoreError).isAway) throw error;
    isWaiting = true;
  }
  return store;
}

async function remoteStore(
  location: StoreLocation,
  { create, accept, runtime, onSchemaCreated }: OpenOptions,
  onRefused?: (error: StoreRefusedError) => void,
): Promise<ReconnectingStore> {
  if (typeof location !== "object") {
    const connector = new KvConnector(location);
    const connect = (signal: AbortSignal) => connector.connect(signal);
    return new ReconnectingStore({ limits: KV_LIMITS, connect, accept, onRefused });
  }
  // Loaded only if it is used, with its client.
  const { POSTGRES_LIMITS, PostgresStore } = await import("./postgres/postgres_store.ts");
  const onCreated = () => onSchemaCreated?.(databaseName(location));
  const connect = (signal: AbortSignal) =>
    PostgresStore.open(location, runtime, { create, onCreated }, signal);
  return new ReconnectingStore({ limits: POSTGRES_LIMITS, connect, accept, onRefused });
}

/** Connects for the first time, within a limit of time. */
async function connect({ connection }: ReconnectingStore, location: StoreLocation): Promise<void> {
  const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.onabort = () => reject(new Error(`it does not answer within ${CONNECT_LIMIT_MS} ms`));
  try {
    await Promise.race([connection.reopen(signal), late]);
  } catch (error) {
    throw new OpenStoreError(location, reasonOf(error), {
      isAway: !(error instanceof StoreRefusedError),
    });
  }
}
