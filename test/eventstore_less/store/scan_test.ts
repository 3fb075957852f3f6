import { assert, assertEquals, assertRejects } from "@std/assert";
import { scan, scanOutside } from "../../../src/eventstore_less/store/scan.ts";
import {
  type Key,
  type KeyRange,
  STORE_LIMITS,
  type StoreEntry,
} from "../../../src/eventstore_less/store/store.ts";
import { StoreDamagedError } from "../../../src/eventstore_less/store/store_errors.ts";
import { ModelStore } from "../../sim/model_store.ts";
import { type Faults, faultyStore } from "../../support/faulty_store.ts";
import { commit, put, set } from "../../support/store_contract.ts";

/** More entries than fit into four batches, with a neighbour on either side. */
const LAST = 4 * STORE_LIMITS.listEntries + 17;

async function openStore(): Promise<ModelStore> {
  const store = new ModelStore();
  const keys = [["a"], ...Array.from({ length: LAST }, (_, index) => ["b", index + 1]), ["c"]];
  for (let start = 0; start < keys.length; start += 500) {
    const mutations = keys.slice(start, start + 500).map((key) => set(key, ""));
    await commit(store, mutations);
  }
  return store;
}

async function keysOf(batches: AsyncIterable<StoreEntry[]>): Promise<Key[]> {
  return (await Array.fromAsync(batches)).flat().map(({ key }) => key);
}

function numbers(from: number, to: number): Key[] {
  return Array.from({ length: to - from + 1 }, (_, index) => ["b", from + index]);
}

Deno.test("scan() yields every entry of a range once and in order, over any number of batches", async () => {
  const store = await openStore();
  const all = [["a"], ...numbers(1, LAST), ["c"]];
  const cases: [KeyRange, Key[]][] = [
    [{ prefix: [] }, all],
    [{ prefix: ["b"] }, numbers(1, LAST)],
    [{ start: ["b", 2], end: ["b", LAST] }, numbers(2, LAST - 1)],
    [{ prefix: [], start: ["b", LAST] }, [["b", LAST], ["c"]]],
    [{ start: ["a"], end: ["b", 1_500] }, [["a"], ...numbers(1, 1_499)]],
    [{ prefix: ["d"] }, []],
  ];
  for (const [range, keys] of cases) assertEquals(await keysOf(scan(store, range)), keys);
});

Deno.test("scan() reads fewer entries at once if they are large", async () => {
  const store = faultyStore(new ModelStore());
  const value = new Uint8Array(60_000);
  for (let index = 0; index < 100; index++) await put(store, ["b", index], value);
  const batches = await Array.fromAsync(scan(store, { prefix: ["b"] }));
  assertEquals(batches.flat().length, 100);
  for (const batch of batches) assert(batch.length <= 17, `${batch.length} entries`);
});

/** Scans until it fails. Resolves to the error and the number of entries before it. */
async function scanUntilFailure(onList: Faults["onList"]): Promise<[unknown, number]> {
  const store = faultyStore(await openStore(), { onList });
  let seen = 0;
  const error = await assertRejects(async () => {
    for await (const batch of scan(store, { prefix: ["b"] })) seen += batch.length;
  }, Error);
  return [error, seen];
}

Deno.test("scan() yields every entry before a damage of the store's file, then rejects", async () => {
  const damage = new StoreDamagedError("database disk image is malformed");
  const outcome = await scanUntilFailure(async (apply) => {
    const entries = await apply();
    if (entries.every(({ key }) => key[1] as number < 100)) return entries;
    throw damage;
  });
  assertEquals(outcome, [damage, 99]);
});

Deno.test("scan() ends at a damaged file that leads back to earlier keys", async () => {
  const store = new ModelStore();
  const entries = Array.from({ length: 600 }, (_, index) => {
    return { key: ["key", index + 1], value: new Uint8Array(1), versionstamp: "1" };
  });
  let first = 0;
  store.list = (_range, { limit }) => {
    const batch = entries.slice(first, first + limit);
    first = (first + limit) % 500;
    return Promise.resolve(batch);
  };
  const scanning = Array.fromAsync(scan(store, { prefix: [] }));
  const { reason } = await assertRejects(() => scanning, StoreDamagedError);
  assertEquals(reason, "The keys of its records are not in order");
});

Deno.test("scanOutside() yields every entry outside the range, and no other", async () => {
  const range = { start: ["b", 2], end: ["b", LAST] };
  const keys = await keysOf(scanOutside(await openStore(), range));
  assertEquals(keys, [["a"], ["b", 1], ["b", LAST], ["c"]]);
});
