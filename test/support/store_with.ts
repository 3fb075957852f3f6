import type { Store } from "../../src/store/store.ts";

/** A store with some of its methods replaced. */
export function storeWith(store: Store, others: Partial<Store>): Store {
  return {
    get: (key) => store.get(key),
    list: (range, options) => store.list(range, options),
    commit: (commit) => store.commit(commit),
    close: () => store.close(),
    ...others,
  };
}
