import { reasonOf } from "../runtime/logger.ts";
import { HAS_DENO_KV } from "../runtime/system_runtime.ts";
import { openKv } from "../runtime/kv.ts";
import { KvStore } from "./deno_kv/kv_store.ts";
import { OpenStoreError } from "./open_store_error.ts";
import { KvWriter } from "./deno_kv/kv_writer.ts";
import { expectSoundTables } from "./sqlite/expect_sound_tables.ts";
import { prepareFile } from "./sqlite/store_file.ts";
import { damageOf, openingFaultOf } from "./sqlite/sqlite_errors.ts";
import { SqliteReader } from "./sqlite/sqlite_reader.ts";
import { type Connect, reconnectingStore } from "./resilience/reconnecting_store.ts";
import type { DatabaseOptions } from "./postgres/postgres_store.ts";
import { SqliteStore } from "./sqlite/sqlite_store.ts";
import { FileWriter } from "./sqlite/sqlite_writer.ts";
import { type Key, type Store, WRITE_PROBE } from "./store.ts";
import { type FileLocation, type StoreLocation, storeName } from "./store_location.ts";
import { NotAppliedError, StoreAwayError, StoreRefusedError } from "./store_errors.ts";
import { words } from "../words.ts";

/** Time limit of the first connection to a remote store. */
const CONNECT_LIMIT_MS = 3_000;

/** How to open a store. */
export interface OpenOptions extends DatabaseOptions {
  /** Whether a missing file, or the tables in an empty database, are created. */
  create: boolean;
  /** Decides whether an opened store may be used, by its content. Rejects with `StoreRefusedError` if not. */
  accept: (store: Store) => Promise<void>;
  /** Set if a service opens the store: its reads do not wait for its commits, and it can wait for a remote store. */
  service?: ServiceOpening;
}

/** How a service opens a store: it starts although a remote store is away, and expects to be able to write. */
export interface ServiceOpening {
  /** Called if a remote store that was away at the start turns out to be unusable. */
  onRefused: (error: OpenStoreError) => void;
}

/** Opens a store. Rejects with `OpenStoreError`. It does not change files or databases of other programs. */
export async function openStore(location: StoreLocation, options: OpenOptions): Promise<Store> {
  const { accept, service } = options;
  const connect = await connectorOf(location, options);
  if (connect === undefined) return await openLocalStore(location, options);
  let isWaiting = false;
  const store = reconnectingStore(connect, accept, ({ message }) => {
    if (isWaiting) service?.onRefused(new OpenStoreError(location, message));
  });
  const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.onabort = () => reject(new Error(`it does not answer within ${CONNECT_LIMIT_MS} ms`));
  try {
    await Promise.race([store.reopen(signal), late]);
  } catch (error) {
    isWaiting = service !== undefined && !(error instanceof StoreRefusedError);
    if (!isWaiting) throw new OpenStoreError(location, reasonOf(error));
  }
  return store;
}

async function openLocalStore(
  location: StoreLocation,
  { create, accept, guardKeys, service }: OpenOptions,
): Promise<Store> {
  let store: Store | undefined;
  try {
    if (location.kind === "file") {
      await prepareFile(location, create);
      await expectSoundTables(location.path, guardKeys);
    }
    // A wait for a lock would block the thread, so the service retries instead.
    const timeout = service === undefined ? undefined : 0;
    store = await openTables(storeName(location), timeout);
    await accept(store);
    if (service !== undefined) await expectWritable(store);
    return store;
  } catch (error) {
    store?.close();
    throw await openError(location, error);
  }
}

/** Opens a file or a store in memory. Deno KV writes a file on a runtime that has it. */
function openTables(path: string, timeout: number | undefined): Promise<Store> {
  const openWriter = HAS_DENO_KV ? KvWriter.open : FileWriter.open;
  return SqliteStore.open(path, timeout, openWriter);
}

/** Rejects if a commit fails. A lock is not a fault: another process writes. */
async function expectWritable(store: Store): Promise<void> {
  try {
    await store.commit(WRITE_PROBE);
  } catch (error) {
    if (!(error instanceof NotAppliedError)) throw error;
  }
}

/**
 * Opens the file of a store only to read it, without Deno KV. Rejects with `OpenStoreError`. If SQLite refuses the file
 * because it is damaged, each read does.
 */
export async function openFileToRead(location: FileLocation): Promise<SqliteReader> {
  try {
    await prepareFile(location, false).catch((error) => {
      if (damageOf(error) === undefined) throw error;
    });
    return new SqliteReader(location.path);
  } catch (error) {
    throw await openError(location, error);
  }
}

async function openError(location: StoreLocation, error: unknown): Promise<OpenStoreError> {
  const damage = damageOf(error);
  if (damage !== undefined) {
    const reason = `it is damaged, or not a store: ${damage.reason}; run ${words().audit}`;
    return new OpenStoreError(location, reason);
  }
  const writeFault = location.kind === "file"
    ? await openingFaultOf(location.path, error)
    : undefined;
  const reason = writeFault && `${writeFault.reason}; ${writeFault.remedy}`;
  return new OpenStoreError(location, reason ?? reasonOf(error));
}

/** How to connect to a store over a network; `undefined` for a local one. Clients are loaded only if they are used. */
async function connectorOf(
  location: StoreLocation,
  options: OpenOptions,
): Promise<Connect | undefined> {
  const [headKey] = options.guardKeys;
  if (location.kind === "attached") return () => openAttachedStore(headKey);
  if (location.kind === "kv_connect") {
    const { openKvConnectStore } = await import("./deno_kv/kv_connect_store.ts");
    return (signal) => openKvConnectStore(location.address, headKey, signal);
  }
  if (location.kind === "postgres") {
    const { PostgresStore } = await import("./postgres/postgres_store.ts");
    return (signal) => PostgresStore.open(location.settings, options, signal);
  }
}

/**
 * Maximum number of attempts at once. An attempt cannot be given up, and the client repeats it for a quarter of an
 * hour.
 */
const ATTEMPTS_LIMIT = 16;
let attempts = 0;

async function openAttachedStore(headKey: Key): Promise<Store> {
  if (attempts >= ATTEMPTS_LIMIT) throw new StoreAwayError("it does not answer");
  attempts++;
  try {
    return new KvStore(await openKv(), headKey);
  } catch (error) {
    // The client's errors have no type of their own.
    const { message } = error as Error;
    const isAway = /failed to connect|status 5\d\d/.test(message);
    throw isAway ? new StoreAwayError(message) : new StoreRefusedError(message);
  } finally {
    attempts--;
  }
}
