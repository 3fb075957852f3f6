import type { Commit, ListOptions, Store } from "../src/store/store.ts";

/** What becomes of one commit; `land` hands it on to the store, as often as it is called. */
export type Script = (land: () => Promise<string | null>) => Promise<string | null>;

/** A store whose next commits go as a test says, in that order; those after them go through. */
export class ScriptedStore implements Store {
  scripts: Script[] = [];
  #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  get(key: Deno.KvKey) {
    return this.#store.get(key);
  }

  list(range: Deno.KvListSelector, options: ListOptions) {
    return this.#store.list(range, options);
  }

  commit(commit: Commit): Promise<string | null> {
    const land = () => this.#store.commit(commit);
    const script = this.scripts.shift();
    return script === undefined ? land() : script(land);
  }

  close(): void {
    this.#store.close();
  }
}
