import { readStoreConfig } from "../../src/settings/config.ts";
import { locateStore, type StoreLocation } from "eventstore-less/startup";

let store: StoreLocation | undefined;

/** The store of the settings, always the same one for a command. Throws `ConfigError` or `OpenStoreError`. */
export function configuredStore(): StoreLocation {
  store ??= locateStore(readStoreConfig().store);
  return store;
}
