import { assertRejects } from "@std/assert";
import { setImmediate as nextTurn } from "node:timers/promises";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../../src/eventstore_less/store/store.ts";
import { faultyStore } from "../../support/faulty_store.ts";
import { expectOneMoment } from "../../../src/eventstore_less/testing/store_contract.ts";

/** Snapshots of stores that read their parts one after the other. */
const WRONG_SNAPSHOTS: Record<string, (store: Store) => Store["snapshot"]> = {
  "the lists after the entries": (store) => async (keys, ranges, options) => {
    const { entries } = await store.snapshot(keys, [], options);
    const { lists } = await store.snapshot([], ranges, options);
    return { entries, lists };
  },
  "one list after the other": (store) => async (keys, ranges, options) => {
    const lists = await Array.fromAsync(ranges, (range) => store.list(range, options));
    const { entries } = await store.snapshot(keys, [], options);
    return { entries, lists };
  },
  "the head last": (store) => async (keys, ranges, options) => {
    const { entries, lists } = await store.snapshot(keys.slice(0, -1), ranges, options);
    return { entries: [...entries, await store.get(keys.at(-1)!)], lists };
  },
};

for (const [name, snapshotOf] of Object.entries(WRONG_SNAPSHOTS)) {
  Deno.test(`The contract of a store finds a snapshot that reads ${name}`, async () => {
    const inner = await SqliteStore.open(":memory:");
    // Between two calls of a store over a network, others have their turn.
    const call = async <T>(apply: () => Promise<T>) => {
      await nextTurn();
      return await apply();
    };
    const slow = faultyStore(inner, { onGet: call, onList: call, onSnapshot: call });
    const store = faultyStore(inner, {
      onSnapshot: (_, keys, ranges, options) => snapshotOf(slow)(keys, ranges, options),
    });
    await assertRejects(() => expectOneMoment(store, 300), Error, "strictly deep-equal");
    store.close();
  });
}
