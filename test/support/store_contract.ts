import { STORE_CONTRACT } from "eventstore-less/testing";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { type Need, testNeeding } from "./test_needing.ts";

export { commit, put, set } from "../../src/eventstore_less/testing/store_contract.ts";

/** An implementation of {@linkcode Store} and how to open it. */
export interface StoreUnderTest {
  /** The subject in the names of the tests. */
  name: string;
  needs?: Need[];
  /** Number of snapshots that are taken beside commits (default: 300). */
  snapshots?: number;
  /** Opens an empty store. The contract closes it, and then calls `dispose`. */
  open(): Promise<{ store: Store; dispose?: () => Promise<void> | void }>;
}

/** Declares the tests that every implementation of {@linkcode Store} passes. */
export function testStoreContract({ name, needs = [], snapshots, open }: StoreUnderTest): void {
  const test = testNeeding(...needs);
  for (const [criterion, check] of Object.entries(STORE_CONTRACT)) {
    test(`${name}: ${criterion}`, async () => {
      let dispose: (() => Promise<void> | void) | undefined;
      const openEmpty = async () => {
        const opened = await open();
        dispose = opened.dispose;
        return opened.store;
      };
      try {
        await check(openEmpty, snapshots);
      } finally {
        await dispose?.();
      }
    });
  }
}
