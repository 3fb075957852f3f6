import { storeWith } from "./store_with.ts";
import type { Commit, Store } from "../../src/store/store.ts";

/** Does a commit, or something else in its place. `number` counts the commits from 1. */
export type OnCommit = (
  commit: Commit,
  number: number,
  apply: (commit: Commit) => Promise<string | null>,
) => Promise<string | null>;

/** A store whose commits go through a function. */
export function disturbed(store: Store, onCommit: OnCommit): Store {
  let number = 0;
  return storeWith(store, {
    commit: (commit) => onCommit(commit, ++number, (commit) => store.commit(commit)),
  });
}
