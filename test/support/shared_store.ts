import type { Store } from "eventstore-less/store";

/** A view of a store that several instances share: closing it closes nothing. */
export function sharedStore(store: Store): Store {
  return {
    limits: store.limits,
    get: (key) => store.get(key),
    list: (range, options) => store.list(range, options),
    snapshot: (keys, ranges, options) => store.snapshot(keys, ranges, options),
    commit: (commit) => store.commit(commit),
    close() {},
  };
}
