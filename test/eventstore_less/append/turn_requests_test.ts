import { assertEquals, assertGreater } from "@std/assert";
import { TurnRequests } from "../../../src/eventstore_less/append/turn_requests.ts";
import { turnRequestKey } from "../../../src/eventstore_less/keyspace.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { StoreEntry } from "../../../src/eventstore_less/store/store.ts";
import { StoreAwayError } from "../../../src/eventstore_less/store/store_errors.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { faultyStore } from "../../support/faulty_store.ts";
import { put } from "../../support/store_contract.ts";

async function open() {
  const runtime = new FakeRuntime();
  const store = faultyStore(runtime.awaited(await SqliteStore.open(":memory:")));
  const instance = () => new TurnRequests(store, runtime);
  const stored = (): Promise<StoreEntry[]> =>
    store.inner.list({ prefix: turnRequestKey("").slice(0, 1) }, { limit: 9 });
  /** Loses plans of 40 ms for some time, one after the other. */
  const lose = async (loser: TurnRequests, plans: number) => {
    for (let plan = 0; plan < plans; plan++) {
      loser.onLost(40);
      await runtime.advance(40);
    }
  };
  return { runtime, store, instance, stored, lose, [Symbol.dispose]: () => store.close() };
}

Deno.test("an instance asks once in a quarter of a second from its fourth loss in a row on, and withdraws when it has landed", async () => {
  using opened = await open();
  const { runtime, store, instance, stored, lose } = opened;
  const loser = instance();
  await lose(loser, 3);
  loser.onLanded();
  await lose(loser, 3);
  assertEquals(store.commits, []);
  await lose(loser, 25);
  assertEquals([store.commits.length, (await stored()).length], [4, 1]);
  loser.onLanded();
  await runtime.advance(0);
  assertEquals(await stored(), []);
  assertEquals(loser.take(), 0);
});

Deno.test("an instance that commits sees each request of others once, and how long their plans take for ten seconds", async () => {
  using opened = await open();
  const { runtime, store, instance, lose } = opened;
  const [winner, first, second] = [instance(), instance(), instance()];
  const land = async () => {
    winner.onLanded();
    await runtime.advance(0);
  };
  await land();
  await Promise.all([lose(first, 13), lose(second, 13)]);
  await land();
  assertEquals([winner.take(), winner.take(), winner.stepMs], [2, 0, 40]);
  await runtime.advance(500);
  await land();
  assertEquals([winner.take(), winner.stepMs], [0, 40]);
  await runtime.advance(9_499);
  assertEquals(winner.stepMs, 40);
  await runtime.advance(1);
  assertEquals(winner.stepMs, 0);
  const looks = store.lists.length;
  for (let commits = 0; commits < 100; commits++) {
    await land();
    await runtime.advance(10);
  }
  assertEquals(store.lists.length - looks, 2);
});

Deno.test("a request from before the first look, or from a pause, is not seen, and is removed when it is ten seconds old", async () => {
  using opened = await open();
  const { runtime, instance, stored, lose } = opened;
  const winner = instance();
  const land = async () => {
    winner.onLanded();
    await runtime.advance(0);
    return [winner.take(), (await stored()).length];
  };
  await lose(instance(), 4);
  assertEquals(await land(), [0, 1]);
  await runtime.advance(60_000);
  await lose(instance(), 4);
  assertEquals(await land(), [0, 1]);
  await runtime.advance(9_999);
  assertEquals(await land(), [0, 1]);
  await runtime.advance(500);
  assertEquals(await land(), [0, 0]);
});

Deno.test("a request that is damaged, or cannot be read or written, changes no plan and is repeated", async () => {
  using opened = await open();
  const { runtime, store, instance, stored, lose } = opened;
  const [winner, loser] = [instance(), instance()];
  winner.onLanded();
  const fail = () => Promise.reject(new StoreAwayError("gone"));
  store.onCommit = fail;
  store.onList = fail;
  await lose(loser, 13);
  winner.onLanded();
  await runtime.advance(0);
  assertEquals([winner.take(), await stored()], [0, []]);
  // A commit that lands although its answer is lost.
  store.onCommit = (apply) => apply().then(fail);
  store.onList = (apply) => apply();
  await lose(loser, 7);
  store.onCommit = (apply) => apply();
  await lose(loser, 14);
  loser.onLanded();
  await runtime.advance(0);
  assertEquals(await stored(), []);
  winner.onLanded();
  await runtime.advance(500);
  await put(store.inner, turnRequestKey("damaged"), "damaged");
  winner.onLanded();
  await runtime.advance(0);
  assertEquals([winner.take(), winner.stepMs], [1, 0]);
  assertGreater(store.commits.length, 3);
});
