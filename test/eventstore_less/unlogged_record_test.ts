import { assertEquals, assertRejects } from "@std/assert";
import { changeUnlogged, readUnlogged } from "eventstore-less/parts";
import { FakeRuntime, openMemoryStore } from "eventstore-less/testing";
import { unloggedKey } from "../../src/eventstore_less/keyspace.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import { StoreAwayError } from "../../src/eventstore_less/store/store_errors.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { put } from "../support/store_contract.ts";

const NAME = ["calls", "7"] as const;

async function openFaulty() {
  const store = faultyStore(await openMemoryStore());
  const runtime = new FakeRuntime();
  const change = (next: (content: unknown) => unknown) =>
    runtime.settle(changeUnlogged({ store, runtime }, NAME, next));
  return { store, change };
}

/** Adds a number to a list. */
const added = (number: number) => (content: unknown) => [...(content as number[] ?? []), number];

Deno.test("changeUnlogged() makes, changes and removes a record", async () => {
  const { store, change } = await openFaulty();
  assertEquals(await readUnlogged(store, NAME), undefined);
  await change(added(1));
  await change(added(2));
  assertEquals(await readUnlogged(store, NAME), [1, 2]);
  await change(() => undefined);
  assertEquals(await readUnlogged(store, NAME), undefined);
});

Deno.test("changeUnlogged() loses no change of another instance, and ends if the store is away", async () => {
  const { store, change } = await openFaulty();
  await change(added(1));
  let others = 2;
  store.onGet = async (apply) => {
    const entry = await apply();
    if (others-- > 0) {
      const { onGet } = store;
      store.onGet = (read) => read();
      await change(added(10));
      store.onGet = onGet;
    }
    return entry;
  };
  await change(added(2));
  assertEquals(await readUnlogged(store, NAME), [1, 10, 10, 2]);
  store.onCommit = () => Promise.reject(new StoreAwayError("away"));
  await assertRejects(() => change(added(3)), ServiceError, "could not be changed");
});

Deno.test("a damaged unlogged record counts as missing, and one that is too large is refused", async () => {
  const { store, change } = await openFaulty();
  await put(store, unloggedKey(...NAME), "damaged");
  assertEquals(await readUnlogged(store, NAME), undefined);
  await change(added(1));
  assertEquals(await readUnlogged(store, NAME), [1]);
  await assertRejects(() => change(() => "x".repeat(65_536)), RangeError, "too large");
});
