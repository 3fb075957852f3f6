import { readStoreConfig } from "../../src/config.ts";
import { acceptLog } from "../../src/log/accept_store.ts";
import { type OpenOptions, openStore } from "../../src/store/open_store.ts";
import { ResilientStore } from "../../src/store/resilient_store.ts";
import { RetryingStore } from "../../src/store/retrying_store.ts";
import type { Store } from "../../src/store/store.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";

/** Opens the configured store for a tool that can wait for retries. Throws `OpenStoreError`. */
export async function openRetryingStore(options: Partial<OpenOptions>): Promise<Store> {
  const store = await openStore(readStoreConfig().kvPath, {
    create: false,
    accept: acceptLog,
    ...options,
  });
  return new RetryingStore(new ResilientStore(store, systemRuntime), systemRuntime);
}
