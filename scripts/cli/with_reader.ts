import { EventStore, type Instance, OpenStoreError } from "eventstore-less";
import { acceptUnlessRestoring } from "eventstore-less/parts";
import { type FileLocation, systemRuntime } from "eventstore-less/startup";
import {
  NO_WRITER,
  openFileToRead,
  SqliteStore,
  type Store,
  StoreDamagedError,
  StoreRefusedError,
} from "eventstore-less/store";
import { APPLICATION } from "../../src/application.ts";
import { configuredStore } from "./configured_store.ts";
import { withInstance } from "./run_command.ts";

/**
 * Opens the configured store during `use` only to read it, whatever its head says, and also if its file is damaged. So
 * it opens a file without Deno KV, which ends the process at some damages.
 */
export async function withReader<T>(use: (instance: Instance) => Promise<T>): Promise<T> {
  const location = configuredStore();
  if (location.kind !== "file") {
    return await withInstance(use, {
      accept: (store) => acceptUnlessRestoring(APPLICATION, store),
    });
  }
  const store = new SqliteStore(await openFileToRead(location), NO_WRITER);
  try {
    await expectAcceptable(store, location).catch((error) => {
      if (!(error instanceof StoreDamagedError)) throw error;
    });
    return await use(new EventStore(APPLICATION, store));
  } finally {
    store.close();
  }
}

/** Rejects with `OpenStoreError` if the store is not one that a tool can examine. */
export async function expectAcceptable(store: Store, location: FileLocation): Promise<void> {
  try {
    await acceptUnlessRestoring(APPLICATION, store);
  } catch (error) {
    const isRefused = error instanceof StoreRefusedError && !(error instanceof StoreDamagedError);
    throw isRefused ? new OpenStoreError(location, error.message) : error;
  }
}
