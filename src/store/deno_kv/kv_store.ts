import type { Commit, ListOptions, Store, StoreEntry } from "../store.ts";
import { NotAttemptedError } from "../store_errors.ts";

/** A store on a real Deno KV: in memory, in a SQLite file, or over the network by KV Connect. */
export class KvStore implements Store {
  #kv: Deno.Kv;

  constructor(kv: Deno.Kv) {
    this.#kv = kv;
  }

  async get(key: Deno.KvKey): Promise<StoreEntry | null> {
    const entry = await this.#kv.get(key).catch(throwTyped);
    return entry.versionstamp === null ? null : entry;
  }

  list(range: Deno.KvListSelector, { limit, reverse = false }: ListOptions): Promise<StoreEntry[]> {
    // KV reads each batch from one snapshot, so one batch must hold the whole result.
    return Array.fromAsync(this.#kv.list(range, { limit, reverse, batchSize: limit }))
      .catch(throwTyped);
  }

  async commit({ checks, mutations }: Commit): Promise<string | null> {
    const atomic = this.#kv.atomic().check(...checks as Deno.AtomicCheck[]);
    for (const mutation of mutations) {
      if (mutation.type === "delete") atomic.delete(mutation.key);
      else atomic.set(mutation.key, mutation.value, { expireIn: mutation.expireIn });
    }
    const result = await atomic.commit().catch(throwTyped);
    return result.ok ? result.versionstamp : null;
  }

  close(): void {
    this.#kv.close();
  }
}

/** Deno KV's errors have no type of their own. SQLite's message shows that the call had no effect. */
function throwTyped(error: unknown): never {
  const isLocked = error instanceof Error && error.message.includes("database is locked");
  throw isLocked ? new NotAttemptedError("Another process keeps the store's file locked") : error;
}
