import type { Instrumentation } from "../../telemetry/instrumentation.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
  StoreEntry,
  StoreLimits,
} from "../store.ts";

/** Reports every call of a store to an instrumentation. */
export class InstrumentedStore implements Store {
  #store: Store;
  #instrumentation: Instrumentation;

  constructor(store: Store, instrumentation: Instrumentation) {
    this.#store = store;
    this.#instrumentation = instrumentation;
  }

  get limits(): StoreLimits {
    return this.#store.limits;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#instrumentation.traceStoreRead("get", key, () => this.#store.get(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    const key = range.prefix ?? range.start;
    const list = () => this.#store.list(range, options);
    return this.#instrumentation.traceStoreRead("list", key, list);
  }

  commit(commit: Commit): Promise<string | null> {
    const { mutations } = commit;
    return this.#instrumentation.traceStoreCommit(
      mutations.length,
      () => this.#store.commit(commit),
    );
  }

  close(): void {
    this.#store.close();
  }
}
