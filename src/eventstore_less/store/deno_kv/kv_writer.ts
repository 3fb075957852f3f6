import type { Kv, KvCheck } from "this-runtime/kv.ts";
import type { Store } from "../store.ts";

/** Commits to a Deno KV. Its errors are those of Deno KV. */
export class KvWriter implements Pick<Store, "commit" | "close"> {
  #kv: Kv;

  constructor(kv: Kv) {
    this.#kv = kv;
  }

  commit: Store["commit"] = async ({ guard, mutations }) => {
    const atomic = this.#kv.atomic().check(guard as KvCheck);
    for (const mutation of mutations) {
      if (mutation.type === "delete") atomic.delete(mutation.key);
      else atomic.set(mutation.key, mutation.value);
    }
    const result = await atomic.commit();
    return result.ok ? result.versionstamp : null;
  };

  close(): void {
    this.#kv.close();
  }
}
