import { assert, assertEquals, assertRejects } from "@std/assert";
import { scan } from "eventstore-less/store/scan.ts";
import {
  type Key,
  type KeyRange,
  type Mutation,
  type SetMutation,
  type Store,
  VALUE_BYTES_LIMIT,
} from "eventstore-less/store/store.ts";
import { StoreRefusedError } from "eventstore-less/store/store_errors.ts";
import { faultyStore } from "./faulty_store.ts";
import { utf8 } from "./utf8.ts";
import { type Need, testNeeding } from "./test_needing.ts";

/** An implementation of {@linkcode Store} and how to open it. */
export interface StoreUnderTest {
  /** The subject in the names of the tests. */
  name: string;
  needs?: Need[];
  /** Opens an empty store. The contract closes it, and then calls `dispose`. */
  open(): Promise<{ store: Store; dispose?: () => Promise<void> | void }>;
}

/** Declares the tests that every implementation of {@linkcode Store} passes. */
export function testStoreContract({ name, needs = [], open }: StoreUnderTest): void {
  const test = testNeeding(...needs);
  for (const [criterion, check] of Object.entries(CONTRACT)) {
    test(`${name}: ${criterion}`, async () => {
      const { store: opened, dispose } = await open();
      // One criterion closes it itself.
      const store = faultyStore(opened);
      try {
        await check(store);
      } finally {
        store.close();
        await dispose?.();
      }
    });
  }
}

const CONTRACT: Record<string, (store: Store) => Promise<void>> = {
  "every call after close() rejects": async (store) => {
    store.close();
    await assertRejects(() => store.get(["key"]), Error);
    await assertRejects(() => store.getMany([["key"]]), Error);
    await assertRejects(() => keysOf(store, { prefix: [] }), Error);
    await assertRejects(() => put(store, ["key"], "value"), Error);
  },

  "getMany() returns the entries of its keys, in their order": async (store) => {
    const keys: Key[] = Array.from({ length: 10 }, (_, index) => ["key", 9 - index, "ä"]);
    for (const key of keys.slice(0, 5)) await put(store, key, key.join());
    const entries = await store.getMany([...keys.slice(3), ...keys.slice(0, 3)]);
    const expected = [...keys.slice(3), ...keys.slice(0, 3)].map((key) => store.get(key));
    assertEquals(entries, await Promise.all(expected));
    assertEquals(entries.filter((entry) => entry === null).length, 5);
  },

  "get() returns bytes exactly": async (store) => {
    const values = [
      new Uint8Array(),
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      new Uint8Array(VALUE_BYTES_LIMIT).fill(255),
    ];
    for (const value of values) {
      await put(store, ["value"], value);
      assertEquals((await store.get(["value"]))?.value, value);
    }
    // Nobody else changes the bytes.
    const bytes = Uint8Array.of(1, 2, 3);
    await put(store, ["value"], bytes);
    bytes.fill(0);
    for (let times = 0; times < 2; times++) {
      const read = (await store.get(["value"]))!.value as Uint8Array;
      assertEquals(read, Uint8Array.of(1, 2, 3));
      read.fill(0);
    }
  },

  "get() and list() return whole entries of any key": async (store) => {
    const keys = [["part", Uint8Array.of(49)], ["part", "1"], ["part", 1], ["part", 1, ""]];
    const entries = [];
    for (const [index, key] of keys.entries()) {
      const value = utf8(`value ${index}`);
      entries.push({ key, value, versionstamp: await commit(store, [set(key, value)]) });
    }
    for (const entry of entries) assertEquals(await store.get(entry.key), entry);
    assertEquals(await store.list({ prefix: ["part"] }, { limit: 10 }), entries);
  },

  "commit() gives its entries one versionstamp, greater than any before": async (store) => {
    let before = "";
    for (let round = 0; round < 20; round++) {
      const mutations = [set(["one"], `${round}`), set(["other"], `${round}`)];
      const versionstamp = await commit(store, mutations);
      assert(versionstamp > before, `${versionstamp} follows ${before}`);
      const entries = await store.getMany([["one"], ["other"]]);
      assertEquals(entries.map((entry) => entry?.versionstamp), [versionstamp, versionstamp]);
      before = versionstamp;
    }
  },

  "commit() writes if every check passes, else returns null and writes nothing": async (store) => {
    const stale = await put(store, ["there"], "1");
    const passing = [{ key: ["there"], versionstamp: stale }, { key: ["not"], versionstamp: null }];
    const mutations = [set(["there"], "2")];
    const current = (await store.commit({ checks: passing, mutations }))!;
    const failing = [
      { key: ["there"], versionstamp: stale },
      { key: ["there"], versionstamp: null },
      { key: ["not"], versionstamp: current },
    ];
    for (const check of failing) {
      const checks = [{ key: ["there"], versionstamp: current }, check];
      const mutations = [set(["new"], "3"), set(["there"], "3")];
      assertEquals(await store.commit({ checks, mutations }), null);
    }
    const entry = { key: ["there"], value: utf8("2"), versionstamp: current };
    assertEquals(await store.list({ prefix: [] }, { limit: 10 }), [entry]);
  },

  "commit() applies exactly one of several commits that check the same key": async (store) => {
    const versionstamp = await put(store, ["head"], "0");
    const checks = [{ key: ["head"], versionstamp }];
    const attempts = [...Array(10).keys()].map((index) =>
      store.commit({ checks, mutations: [set(["head"], "1"), set(["winner", index], "")] })
    );
    const outcomes = await Promise.all(attempts);
    assertEquals(outcomes.filter((outcome) => outcome !== null).length, 1);
    const winner = ["winner", outcomes.findIndex((outcome) => outcome !== null)];
    assertEquals(await keysOf(store, { prefix: ["winner"] }), [winner]);
  },

  "commit() deletes, and a deleted key passes the check for a missing one": async (store) => {
    await put(store, ["key"], "value");
    const mutations = [["key"], ["never there"]].map((key) => ({ type: "delete" as const, key }));
    await commit(store, mutations);
    assertEquals(await store.get(["key"]), null);
    assertEquals(await keysOf(store, { prefix: [] }), []);
    const checks = [{ key: ["key"], versionstamp: null }];
    assert(await store.commit({ checks, mutations: [set(["key"], "again")] }) !== null);
    const again = await store.get(["key"]);
    assertEquals(again?.value, utf8("again"));
    const checked = { checks: [{ key: ["key"], versionstamp: again!.versionstamp }], mutations };
    assert(await store.commit(checked) !== null);
    assertEquals(await store.commit(checked), null);
  },

  "commit() accepts as many mutations as its limit, and refuses one more": async (store) => {
    const { commitMutations } = store.limits;
    await expectRefused(store, numbered(commitMutations + 1));
    await commit(store, numbered(commitMutations));
    assertEquals(await count(store), commitMutations);
  },

  "commit() accepts as many bytes as its limits, and refuses many more": async (store) => {
    const { commitBytes, commitKeyBytes } = store.limits;
    const filled = (bytes: number, bytesEach: number, mutation: (index: number) => SetMutation) =>
      Array.from({ length: Math.floor(bytes / bytesEach) }, (_, index) => mutation(index));
    const values = (bytes: number) =>
      filled(bytes, 60_100, (index) => set(["large", index], new Uint8Array(60_000 - index)));
    await expectRefused(store, values(commitBytes + 3 * 60_100));
    const tooLarge = set(["large"], new Uint8Array(VALUE_BYTES_LIMIT + 1));
    await expectRefused(store, [set(["small"], ""), tooLarge]);
    const mutations = values(commitBytes);
    await commit(store, mutations);
    const keys = filled(commitKeyBytes, 1_025, (index) => set(["k".repeat(1_000), index], ""));
    await commit(store, keys);
    assertEquals(await count(store), mutations.length + keys.length);
  },

  "list() returns bytes, texts and numbers in key order": async (store) => {
    const parts = [
      ...[[], [0], [0, 0], [0, 255], [1], [2], [10], [255]].map((bytes) => Uint8Array.of(...bytes)),
      ...["", "\0", "Z", "a", "a\0", "a\0b", "ab", "é", "\uffff", "🐈"],
      ...[-Infinity, -1e300, -2, -1.5, -1, -5e-324, 0, 5e-324, 0.5, 1, 9, 10, 100, 2 ** 32],
      ...[Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER, 1e300, Infinity],
    ];
    const keys = parts.map((part) => ["p", part]);
    for (const key of keys.toReversed()) await put(store, key, "");
    assertEquals(await keysOf(store, { prefix: ["p"] }), keys);
    assertEquals(await keysOf(store, { prefix: ["p"] }, 100, true), keys.toReversed());
    // Each key is also a bound.
    for (const [index, key] of keys.entries()) {
      assertEquals(await keysOf(store, { prefix: ["p"], start: key }, 1), [key]);
      const before = await keysOf(store, { start: ["p"], end: key }, 1, true);
      assertEquals(before, keys.slice(Math.max(index - 1, 0), index));
    }
  },

  "list() of a prefix excludes the prefix itself, and continues after a key": async (
    store,
  ) => {
    const within = [["a", "b"], ["a", 1], ["a", 1, Uint8Array.of(0)], ["a", 1, 1], ["a", 2]];
    for (const key of [["a"], ["ab", 1], ["b", 1], ...within]) await put(store, key, "");
    assertEquals(await keysOf(store, { prefix: ["a"] }), within);
    assertEquals(await keysOf(store, { prefix: ["a"] }, 100, true), within.toReversed());
    assertEquals((await keysOf(store, { prefix: [] })).length, within.length + 3);
    const start = ["a", 1, Uint8Array.of()];
    for (const range of [{ prefix: ["a"], start }, { start, end: ["ab"] }]) {
      assertEquals(await keysOf(store, range), within.slice(2));
    }
  },

  "list() of a range includes its start and not its end, up to a limit": async (
    store,
  ) => {
    await commit(store, numbered(9));
    const numbers = async (range: KeyRange, limit?: number, reverse?: boolean) =>
      (await keysOf(store, range, limit, reverse)).map(([, number]) => number);
    const range = { start: ["number", 3], end: ["number", 6] };
    assertEquals(await numbers(range), [3, 4, 5]);
    assertEquals(await numbers(range, 100, true), [5, 4, 3]);
    const rest = { prefix: ["number"], start: ["number", 7] };
    assertEquals(await numbers(rest), [7, 8, 9]);
    assertEquals(await numbers(rest, 2, true), [9, 8]);
    const first = { start: ["number"], end: ["number", 3] };
    assertEquals(await numbers(first), [1, 2]);
    assertEquals(await numbers(first, 1, true), [2]);
    assertEquals(await numbers({ start: ["number", 10], end: ["number", 20] }), []);
    const { listEntries } = store.limits;
    assertEquals((await numbers(rest, listEntries)).length, 3);
    await assertRejects(() => numbers(rest, listEntries + 1), StoreRefusedError);
  },

  "list() reads one snapshot during commits": async (store) => {
    const count = 400;
    const mutations = numbered(count);
    await commit(store, mutations);
    const seen = new Set<string>();
    const commits = (async () => {
      for (let round = 0; round < 200 && seen.size < 3; round++) await commit(store, mutations);
      return "done";
    })();
    for (let isDone = false; !isDone;) {
      const entries = await store.list({ prefix: ["number"] }, { limit: count });
      assertEquals(entries.length, count);
      assertEquals(new Set(entries.map(({ versionstamp }) => versionstamp)).size, 1);
      seen.add(entries[0].versionstamp);
      isDone = await Promise.race([commits, undefined]) === "done";
    }
    assert(seen.size >= 3, "the lists fell between commits");
  },
};

/** Commits one record without checks, and resolves to the versionstamp. */
export function put(store: Store, key: Key, value: string | Uint8Array): Promise<string> {
  return commit(store, [set(key, value)]);
}

/** Commits without checks, and resolves to the versionstamp. */
export async function commit(store: Store, mutations: Mutation[]): Promise<string> {
  const versionstamp = await store.commit({ checks: [], mutations });
  assert(versionstamp !== null, "a commit without checks finds no conflict");
  return versionstamp;
}

export function set(key: Key, value: string | Uint8Array): SetMutation {
  return { type: "set", key, value: typeof value === "string" ? utf8(value) : value };
}

async function expectRefused(store: Store, mutations: Mutation[]): Promise<void> {
  await assertRejects(() => commit(store, mutations), StoreRefusedError);
  assertEquals(await count(store), 0);
}

async function keysOf(store: Store, range: KeyRange, limit = 100, reverse = false) {
  return (await store.list(range, { limit, reverse })).map(({ key }) => key);
}

/** Number of all records. */
async function count(store: Store): Promise<number> {
  let entries = 0;
  for await (const batch of scan(store, { prefix: [] })) entries += batch.length;
  return entries;
}

/** Mutations that set ["number", 1] to ["number", count]. */
function numbered(count: number) {
  return Array.from({ length: count }, (_, index) => set(["number", index + 1], `${index + 1}`));
}
