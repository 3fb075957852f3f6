import { GUARD_KEYS, HEAD_KEY } from "../keyspace.ts";
import { acceptUnlessRestoring } from "../log/accept_store.ts";
import { locationOf } from "../event_store.ts";
import { systemRuntime } from "../runtime/system_runtime.ts";
import { openFileToRead, openStore } from "../store/open_store.ts";
import { OpenStoreError } from "../store/open_store_error.ts";
import { ResilientStore, RETRY_LIMIT_MS } from "../store/resilience/resilient_store.ts";
import { SqliteStore } from "../store/sqlite/sqlite_store.ts";
import { NO_WRITER } from "../store/sqlite/sqlite_writer.ts";
import type { Store } from "../store/store.ts";
import { StoreDamagedError, StoreRefusedError } from "../store/store_errors.ts";
import type { FileLocation, StoreLocation } from "../store/store_location.ts";
import type { Application } from "../application.ts";
import type { StoreAt, ToolStore } from "./tool_store.ts";

/** The store with retries of its reads, because a tool can wait longer than a request. */
export function patientStore({ store, runtime }: ToolStore): Store {
  return new ResilientStore(store, {
    runtime,
    probeKey: HEAD_KEY,
    retryReadsMs: RETRY_LIMIT_MS,
  });
}

/** A store that is open to be read. */
export interface OpenedToRead extends ToolStore, Disposable {
  /** The path of its file, if it was opened from one. */
  path: string | undefined;
}

/**
 * Opens a store only to read it, whatever its head says, and also if its file is damaged: without Deno KV, which ends the
 * process at some damages, and cannot open a file on a read-only file system. Leaves an open store as it is.
 */
export async function openToRead(from: ToolStore | StoreAt): Promise<OpenedToRead> {
  if ("store" in from) {
    const { application, store, runtime } = from;
    return { application, store, runtime, path: undefined, [Symbol.dispose]() {} };
  }
  const { application } = from;
  const location = storeLocationOf(from);
  const opened = location.kind === "file"
    ? await openDamagedFile(application, location)
    : await openAt(application, location);
  const runtime = systemRuntime;
  const store = new ResilientStore(opened, { runtime, probeKey: HEAD_KEY });
  const path = location.kind === "file" ? location.path : undefined;
  return { application, store, runtime, path, [Symbol.dispose]: () => store.close() };
}

export function storeLocationOf({ location }: StoreAt): StoreLocation {
  return typeof location === "string" ? locationOf(location) : location;
}

/** Opens a store that exists. It opens a file also to write it. */
export function openAt(application: Application, location: StoreLocation): Promise<Store> {
  return openStore(location, {
    create: false,
    program: application.dashedName,
    accept: (store) => acceptUnlessRestoring(application, store),
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
  });
}

async function openDamagedFile(application: Application, location: FileLocation): Promise<Store> {
  const store = new SqliteStore(await openFileToRead(location), NO_WRITER);
  try {
    await expectAcceptable(application, store, location);
  } catch (error) {
    if (error instanceof StoreDamagedError) return store;
    store.close();
    throw error;
  }
  return store;
}

/** Rejects with `OpenStoreError` if the store is not one that a tool can examine. */
export async function expectAcceptable(
  application: Application,
  store: Store,
  location: FileLocation,
): Promise<void> {
  try {
    await acceptUnlessRestoring(application, store);
  } catch (error) {
    const isRefused = error instanceof StoreRefusedError && !(error instanceof StoreDamagedError);
    throw isRefused ? new OpenStoreError(location, error.message) : error;
  }
}
