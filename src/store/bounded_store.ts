import { Failure } from "../failure.ts";
import { backoffMs, type Host, sleep } from "../host.ts";
import type { Commit, ListOptions, Store, StoreEntry } from "./store.ts";

/** Longest time that one call of the store may take, retries of a read included. */
export const STORE_CALL_LIMIT_MS = 2_000;

/**
 * Puts a limit of time on every call of a store, since a remote one may never answer, and repeats
 * reads that met a lock of the SQLite file. What fails, fails with the code `store_unavailable`.
 */
export class BoundedStore implements Store {
  #store: Store;
  #host: Host;

  constructor(store: Store, host: Host) {
    this.#store = store;
    this.#host = host;
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return this.#within("read", () => this.#read(() => this.#store.get(key)));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    return this.#within("read", () => this.#read(() => this.#store.list(range, options)));
  }

  commit(commit: Commit): Promise<string | null> {
    // A commit is not repeated here: only who made it can tell whether it landed.
    return this.#within("commit", () => this.#store.commit(commit));
  }

  close(): void {
    this.#store.close();
  }

  async #read<T>(read: () => Promise<T>): Promise<T> {
    const deadline = this.#host.uptime() + STORE_CALL_LIMIT_MS;
    for (let attempt = 0;; attempt++) {
      try {
        return await read();
      } catch (error) {
        if (!isLocked(error) || this.#host.uptime() >= deadline) throw error;
        await sleep(this.#host, backoffMs(this.#host, attempt));
      }
    }
  }

  #within<T>(what: string, call: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const cancel = this.#host.after(
        STORE_CALL_LIMIT_MS,
        () =>
          reject(
            new Failure(
              "store_unavailable",
              `The store did not answer a ${what} within ${STORE_CALL_LIMIT_MS} ms`,
            ),
          ),
      );
      call().then((value) => {
        cancel();
        resolve(value);
      }, (cause) => {
        cancel();
        reject(new Failure("store_unavailable", `The store failed to ${what}`, { cause }));
      });
    });
  }
}

/** SQLite's answer where another process holds the file: nothing was done. */
function isLocked(error: unknown): boolean {
  return error instanceof Error && error.message.includes("database is locked");
}
