import { SqliteStore } from "../store/sqlite/sqlite_store.ts";
import type { Store } from "../store/store.ts";

/**
 * Opens an empty store in memory. Several event stores can share it, as the processes of a service share a database; it
 * is gone once one of them closes it.
 *
 * ```ts
 * const memory = await openMemoryStore();
 * const writer = await openEventStore(application, memory);
 * const reader = await openEventStore(application, memory);
 * ```
 */
export function openMemoryStore(): Promise<Store> {
  return SqliteStore.open(":memory:");
}
