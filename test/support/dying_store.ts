import type { Store } from "../../src/store/store.ts";
import { faultyStore } from "./faulty_store.ts";

/** A store whose process is killed at the commit with that number, which lands or not. `killed` resolves then. */
export function dyingStore(inner: Store, at: number, isApplied: boolean) {
  const { promise: killed, resolve } = Promise.withResolvers<undefined>();
  const store = faultyStore(inner, {
    async onCommit(apply, _commit, number) {
      if (number < at) return await apply();
      if (isApplied) await apply();
      resolve(undefined);
      return await new Promise<never>(() => {});
    },
  });
  return { store, killed };
}
