import { reasonOf } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { damageOf, KV_LIMITS, KvStore } from "./deno_kv/kv_store.ts";
import { expectUsableIndexes, prepareFile } from "./deno_kv/store_file.ts";
import { SqliteReader } from "./deno_kv/sqlite_reader.ts";
import { ReconnectingStore } from "./resilience/reconnecting_store.ts";
import {
  type FileLocation,
  locationName,
  type StoreLocation,
  storeName,
} from "./store_location.ts";
import type { Key, Store } from "./store.ts";
import { StoreAwayError, type StoreDamagedError, StoreRefusedError } from "./store_errors.ts";

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
  /** Every commit checks and writes one of these records. A read of the first must come from the primary. */
  guardKeys: readonly Key[];
  runtime: Runtime;
  /** Called after the tables were created in a database, which it names. */
  onSchemaCreated?: (database: string) => void;
}

/** Decides whether an opened store may be used, by its content. Rejects with `StoreRefusedError` if not. */
export type AcceptStore = (store: Store) => Promise<void>;

/** Opens a store. Rejects with `OpenStoreError`. It does not change files or databases of other programs. */
export async function openStore(location: StoreLocation, options: OpenOptions): Promise<Store> {
  const store = await remoteStore(location, options);
  if (store === undefined) return await openLocalStore(location, options);
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
    if (location.kind === "file") {
      await prepareFile(location, create);
      expectUsableIndexes(location.path);
    }
    const kv = await Deno.openKv(storeName(location));
    store = new KvStore(kv);
    if (hasReader && location.kind === "file") {
      // A wait for a lock would block the thread, so the service retries instead.
      store = new KvStore(kv, new SqliteReader(location.path, 0));
    }
    await accept(store);
    return store;
  } catch (error) {
    store?.close();
    throw openError(
      location,
      error,
      ({ reason }) => `it is damaged, or not a store: ${reason}; run deno task audit`,
    );
  }
}

/** Opens the file of a store only to read it, without Deno KV. Rejects with `OpenStoreError`. */
export async function openFileToRead(location: FileLocation): Promise<SqliteReader> {
  try {
    await prepareFile(location, false);
    return new SqliteReader(location.path);
  } catch (error) {
    throw openError(
      location,
      error,
      ({ reason }) => `its file is damaged, and none of it can be read: ${reason}`,
    );
  }
}

function openError(
  location: StoreLocation,
  error: unknown,
  reasonOfDamage: (damage: StoreDamagedError) => string,
): OpenStoreError {
  const damage = damageOf(error);
  const reason = damage === undefined ? reasonOf(error) : reasonOfDamage(damage);
  return new OpenStoreError(location, reason, { damage });
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
  let isWaiting = false;
  const store = await remoteStore(location, created, ({ message }) => {
    if (isWaiting) onRefused(new OpenStoreError(location, message));
  });
  if (store === undefined) return await openLocalStore(location, created, true);
  try {
    await connect(store, location);
  } catch (error) {
    if (!(error as OpenStoreError).isAway) throw error;
    isWaiting = true;
  }
  return store;
}

/** A store that is reached over a network; `undefined` for a local one. Clients are loaded only if they are used. */
async function remoteStore(
  location: StoreLocation,
  { create, accept, runtime, guardKeys, onSchemaCreated }: OpenOptions,
  onRefused?: (error: StoreRefusedError) => void,
): Promise<ReconnectingStore | undefined> {
  const deps = { limits: KV_LIMITS, accept, onRefused };
  switch (location.kind) {
    case "memory":
    case "file":
      return undefined;
    case "attached":
      return new ReconnectingStore({ ...deps, connect: attachedStoreOpener() });
    case "kv_connect": {
      const { KvConnectStore } = await import("./deno_kv/kv_connect_store.ts");
      const connect = (signal: AbortSignal) => KvConnectStore.open(location.address, signal);
      return new ReconnectingStore({ ...deps, connect });
    }
    case "postgres": {
      const { POSTGRES_LIMITS, PostgresStore } = await import("./postgres/postgres_store.ts");
      const onCreated = () => onSchemaCreated?.(storeName(location));
      const connect = (signal: AbortSignal) =>
        PostgresStore.open(location.settings, runtime, { create, guardKeys, onCreated }, signal);
      return new ReconnectingStore({ ...deps, limits: POSTGRES_LIMITS, connect });
    }
  }
}

/**
 * An attempt to open the attached database cannot be given up, and the client repeats it for a quarter of an
 * hour. At most this many attempts are under way.
 */
const ATTEMPTS_LIMIT = 16;

/** Returns a function that opens the database that the platform attaches. */
export function attachedStoreOpener(): () => Promise<Store> {
  let attempts = 0;
  return async () => {
    if (attempts >= ATTEMPTS_LIMIT) throw new StoreAwayError("it does not answer");
    attempts++;
    try {
      return new KvStore(await Deno.openKv());
    } catch (error) {
      // The client's errors have no type of their own.
      const { message } = error as Error;
      const isAway = /failed to connect|status 5\d\d/.test(message);
      throw isAway ? new StoreAwayError(message) : new StoreRefusedError(message);
    } finally {
      attempts--;
    }
  };
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
