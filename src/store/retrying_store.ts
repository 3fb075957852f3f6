import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "./store.ts";

/** How long a tool retries a read on a busy store. */
export const RETRY_LIMIT_MS = 60_000;

/**
 * Repeats failed reads, for a tool that has time to wait. Commits are not repeated: only the caller of
 * a commit can find out whether it landed.
 */
export class RetryingStore implements Store {
  #store: Store;
  #runtime: Runtime;

  constructor(store: Store, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return this.#retry(() => this.#store.get(key));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    return this.#retry(() => this.#store.list(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    return this.#store.commit(commit);
  }

  close(): void {
    this.#store.close();
  }

  async #retry<T>(read: () => Promise<T>): Promise<T> {
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    for (let attempt = 0;; attempt++) {
      try {
        return await read();
      } catch (error) {
        if (this.#runtime.monotonicNow() >= deadline) throw error;
        await sleep(this.#runtime, backoffMs(this.#runtime, attempt));
      }
    }
  }
}
