import type { Commit, ListOptions, Store } from "../src/store/store.ts";
import type { FakeHost } from "./fake_host.ts";

/** What becomes of one commit; `land` hands it on to the store, as often as it is called. */
export type Script = (land: () => Promise<string | null>) => Promise<string | null>;

/** How far time goes on before the store is looked at again. */
const STEP_MS = 50;

/** A store whose next commits go as a test says, in that order; those after them go through. */
export class ScriptedStore implements Store {
  scripts: Script[] = [];
  #store: Store;
  #underWay = new Set<Promise<unknown>>();

  constructor(store: Store) {
    this.#store = store;
  }

  get(key: Deno.KvKey) {
    return this.#track(this.#store.get(key));
  }

  list(range: Deno.KvListSelector, options: ListOptions) {
    return this.#track(this.#store.list(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    const land = () => this.#track(this.#store.commit(commit));
    const script = this.scripts.shift();
    return script === undefined ? land() : script(land);
  }

  close(): void {
    this.#store.close();
  }

  /** Lets a host's time pass, but not while the real store is at work: it knows nothing of that time. */
  async pass(host: FakeHost, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
      await host.advance(Math.min(STEP_MS, left));
    }
  }

  #track<T>(call: Promise<T>): Promise<T> {
    this.#underWay.add(call);
    const end = () => void this.#underWay.delete(call);
    call.then(end, end);
    return call;
  }
}
