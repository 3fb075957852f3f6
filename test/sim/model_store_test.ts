import { assertEquals } from "@std/assert";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { KeyRange, Mutation, Store, StoreEntry } from "../../src/store/store.ts";
import { testStoreContract } from "../support/store_contract.ts";
import { utf8 } from "../support/utf8.ts";
import { ModelStore } from "./model_store.ts";
import { Random } from "./random.ts";

testStoreContract({
  name: "ModelStore",
  open: () => Promise.resolve({ store: new ModelStore() }),
});

const ROUNDS = 1_500;

Deno.test("ModelStore agrees with KvStore over random commits, reads and lists", async () => {
  for (const seed of [1, 2, 3]) {
    const random = new Random(seed);
    const stores = [new ModelStore(), new KvStore(await Deno.openKv(":memory:"))];
    for (let round = 0; round < ROUNDS; round++) {
      const call = drawCall(random);
      const [ofModel, ofKv] = await Promise.all(stores.map(call));
      assertEquals(ofModel, ofKv, `round ${round} of seed ${seed}`);
    }
    for (const store of stores) store.close();
  }
});

Deno.test("ModelStore removes an expired record after the store's lag", async () => {
  let now = 0;
  const store = new ModelStore({ now: () => now, expiryLagMs: () => 50 });
  const mutation = { type: "set" as const, key: ["brief"], value: utf8("value"), expireIn: 100 };
  await store.commit({ checks: [], mutations: [mutation] });
  now = 149;
  assertEquals((await store.get(["brief"]))?.value, utf8("value"));
  now = 150;
  assertEquals(await store.get(["brief"]), null);
  assertEquals(await store.list({ prefix: [] }, { limit: 1 }), []);
});

/** Draws an operation. Its outcome omits versionstamps, because every store numbers them differently. */
function drawCall(random: Random): (store: Store) => Promise<unknown> {
  switch (random.weighted({ get: 1, list: 3, commit: 4 })) {
    case "get": {
      const key = drawKey(random);
      return async (store) => contentOf(await store.get(key));
    }
    case "list": {
      const range = drawRange(random);
      const options = { limit: random.integer(1, 20), reverse: random.chance(0.5) };
      return async (store) => (await store.list(range, options)).map(contentOf);
    }
    case "commit": {
      const checked = Array.from({ length: random.integer(0, 2) }, () => ({
        key: drawKey(random),
        // Usually the current versionstamp, sometimes a wrong one.
        claim: random.weighted({ current: 8, absent: 1, old: 1 }),
      }));
      const mutations = Array.from({ length: random.integer(0, 5) }, () => drawMutation(random));
      return async (store) => {
        const checks = await Promise.all(checked.map(async ({ key, claim }) => {
          const versionstamp = (await store.get(key))?.versionstamp ?? null;
          if (claim === "current") return { key, versionstamp };
          return { key, versionstamp: claim === "absent" ? null : "0".repeat(20) };
        }));
        return await store.commit({ checks, mutations }) === null ? "conflict" : "committed";
      };
    }
  }
}

function drawMutation(random: Random): Mutation {
  const key = drawKey(random);
  if (random.chance(0.3)) return { type: "delete", key };
  return { type: "set", key, value: random.bytes(random.integer(0, 9)) };
}

const KEY_PARTS: readonly (string | number | Uint8Array)[] = [
  ...["", "a", "a\0", "a\0b", "b", "é", "\u{1f408}"],
  ...[-2, -0.5, 0, 1, 2, 10, 2 ** 40],
  ...[[], [0], [255]].map((bytes) => new Uint8Array(bytes)),
];

function drawKey(random: Random, minLength = 1) {
  return Array.from({ length: random.integer(minLength, 3) }, () => random.pick(KEY_PARTS));
}

/** Draws a range below a prefix: all of it, or from a start on, or up to an end. */
function drawRange(random: Random): KeyRange {
  const prefix = drawKey(random, 0);
  const within = [...prefix, ...drawKey(random)];
  return random.pick([{ prefix }, { prefix, start: within }, { start: prefix, end: within }]);
}

function contentOf(entry: StoreEntry | null) {
  return entry === null ? null : { key: entry.key, value: entry.value };
}
