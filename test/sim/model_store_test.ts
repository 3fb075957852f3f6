import { assertEquals } from "@std/assert";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { Commit, Key, KeyRange, Mutation, Store, StoreEntry } from "../../src/store/store.ts";
import { testStoreContract } from "../support/store_contract.ts";
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
      const [ofModel, ofKv] = await Promise.all(stores.map((store) => outcomeOf(call, store)));
      assertEquals(ofModel, ofKv, `round ${round} of seed ${seed}`);
    }
    for (const store of stores) store.close();
  }
});

Deno.test("ModelStore removes an expired record after the store's lag", async () => {
  let now = 0;
  const store = new ModelStore({ now: () => now, expiryLagMs: () => 50 });
  const mutation = { type: "set" as const, key: ["brief"], value: "", expireIn: 100 };
  await store.commit({ checks: [], mutations: [mutation] });
  now = 149;
  assertEquals((await store.get(["brief"]))?.value, "");
  now = 150;
  assertEquals(await store.get(["brief"]), null);
  assertEquals(await store.list({ prefix: [] }, { limit: 1 }), []);
});

Deno.test("ModelStore has the limits of KvStore to the byte", async () => {
  const stores = [new ModelStore(), new KvStore(await Deno.openKv(":memory:"))];
  for (const [name, commitOf] of Object.entries(COMMITS_BY_SIZE)) {
    const largest: number[] = [];
    for (const store of stores) largest.push(await largestSize(store, commitOf));
    const [ofModel, ofKv] = largest;
    assertEquals(ofModel, ofKv, name);
  }
  for (const store of stores) store.close();
});

/** Commits that a store refuses above some size. */
const COMMITS_BY_SIZE: Record<string, (size: number) => Commit> = {
  "a value of bytes": (size) => commitOf(set(["key"], new Uint8Array(size))),
  "a text outside Latin-1": (size) => commitOf(set(["key"], "€".repeat(size))),
  "a key": (size) => commitOf(set(["k".repeat(size)], "")),
  "many mutations": (size) => commitOf(...numbered(size, ["number"], "")),
  "many keys, some of them deleted": (size) =>
    commitOf(...numbered(size), ...numbered(45, ["k".repeat(1_900)])),
  "many bytes, some in deleted and some in checked keys": (size) => ({
    ...commitOf(...LARGE_VALUES, ...numbered(size, ["k".repeat(1_000)])),
    checks: [{ key: ["k".repeat(2_000)], versionstamp: null }],
  }),
  ...Object.fromEntries(
    // The length of a text is stored in one byte or in two.
    ["a".repeat(127), "a".repeat(128), "€".repeat(63), "€".repeat(64)].map((text) => [
      `many bytes, some in texts of ${text.length} ${text[0]}`,
      (size: number) => commitOf(...LARGE_VALUES, ...numbered(size, ["text"], text)),
    ]),
  ),
};

const LARGE_VALUES = numbered(12, ["large"], new Uint8Array(65_000));

async function largestSize(store: Store, commitOf: (size: number) => Commit): Promise<number> {
  const isAccepted = (size: number) => store.commit(commitOf(size)).then(() => true, () => false);
  let refused = 1;
  while (await isAccepted(refused)) refused *= 2;
  let accepted = refused >>> 1;
  while (refused - accepted > 1) {
    const middle = (accepted + refused) >>> 1;
    if (await isAccepted(middle)) accepted = middle;
    else refused = middle;
  }
  return accepted;
}

function commitOf(...mutations: Mutation[]): Commit {
  return { checks: [], mutations };
}

function set(key: Key, value: string | Uint8Array): Mutation {
  return { type: "set", key, value };
}

/** Mutations of numbered keys below a prefix; without a value, deletions. */
function numbered(
  count: number,
  prefix: Key = ["number"],
  value?: string | Uint8Array,
): Mutation[] {
  return Array.from({ length: count }, (_, index) => {
    const key = [...prefix, index];
    return value === undefined ? { type: "delete", key } : set(key, value);
  });
}

type StoreCall = (store: Store) => Promise<unknown>;

/**
 * Draws a random operation. Its outcome omits versionstamps, because every store numbers them differently.
 */
function drawCall(random: Random): StoreCall {
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
  const value = random.chance(0.5) ? random.bytes(3) : String.fromCodePoint(
    random.pick([0, 65, 0xe9, 0x20ac, 0x1f408]),
  ).repeat(random.integer(0, 3));
  return { type: "set", key, value };
}

const KEY_PARTS: readonly (string | number | Uint8Array)[] = [
  ...["", "a", "a\0", "a\0b", "b", "é", "\u{1f408}", "\ud800"],
  ...[-2, -0.5, 0, 1, 2, 10, 2 ** 40],
  ...[[], [0], [255]].map((bytes) => new Uint8Array(bytes)),
];

function drawKey(random: Random, minLength = 1) {
  return Array.from({ length: random.integer(minLength, 3) }, () => random.pick(KEY_PARTS));
}

function drawRange(random: Random): KeyRange {
  const prefix = drawKey(random, 0);
  const within = () => [...prefix, ...drawKey(random)];
  switch (random.pick(["prefix", "from", "between"])) {
    case "prefix":
      return { prefix };
    case "from":
      return { prefix, start: random.chance(0.9) ? within() : drawKey(random) };
    default:
      return { start: drawKey(random), end: drawKey(random) };
  }
}

function contentOf(entry: StoreEntry | null) {
  return entry === null ? null : { key: entry.key, value: entry.value };
}

async function outcomeOf(call: StoreCall, store: Store): Promise<unknown> {
  try {
    return await call(store);
  } catch (error) {
    return `rejected with ${(error as Error).name}`;
  }
}
