import type { Runtime } from "../../runtime/runtime.ts";
import { retry } from "./retry.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
  StoreEntry,
  StoreLimits,
} from "../store.ts";
import { StoreRefusedError } from "../store_errors.ts";

/** How long a tool retries a read on a busy store. */
export const RETRY_LIMIT_MS = 60_000;

/**
 * Retries failed reads, for a tool that has time to wait. Commits are not retried: only the caller of
 * a commit can find out whether it landed.
 */
export class RetryingStore implements Store {
  #store: Store;
  #runtime: Runtime;

  constructor(store: Store, runtime: Runtime) {
    this.#store = store;
    this.#runtime = runtime;
  }

  get limits(): StoreLimits {
    return this.#store.limits;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#retry(() => this.#store.get(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return this.#retry(() => this.#store.list(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    return this.#store.commit(commit);
  }

  close(): void {
    this.#store.close();
  }

  #retry<T>(read: () => Promise<T>): Promise<T> {
    return retry(read, {
      runtime: this.#runtime,
      limitMs: RETRY_LIMIT_MS,
      isRetryable: (error) => !(error instanceof StoreRefusedError),
    });
  }
}
