import { assert, assertEquals, assertRejects } from "@std/assert";
import { COMMIT_MUTATIONS_LIMIT, LIST_LIMIT, type Store } from "../../src/store/store.ts";

/** An implementation of {@linkcode Store} and how to open it. */
export interface StoreUnderTest {
  /** The subject in the names of the tests. */
  name: string;
  /** Whether this run of the tests lacks something that the implementation needs. */
  ignore?: boolean;
  /** Opens an empty store. The contract closes it, and then calls `dispose`. */
  open(): Promise<OpenedStore>;
}

export interface OpenedStore {
  store: Store;
  dispose?: () => Promise<void> | void;
}

type Criterion = (store: Store) => Promise<void>;

/** Declares the tests that every implementation of {@linkcode Store} passes. */
export function testStoreContract({ name, ignore = false, open }: StoreUnderTest): void {
  for (const [criterion, check] of Object.entries(CONTRACT)) {
    Deno.test({
      name: `${name}: ${criterion}`,
      ignore,
      async fn() {
        const { store, dispose } = await open();
        try {
          await check(store);
        } finally {
          store.close();
          await dispose?.();
        }
      },
    });
  }
  Deno.test({
    name: `${name}: every call after close() rejects`,
    ignore,
    async fn() {
      const { store, dispose } = await open();
      store.close();
      await assertRejects(() => store.get(["key"]), Error);
      await assertRejects(() => store.list({ prefix: [] }, { limit: 1 }), Error);
      await assertRejects(() => put(store, ["key"], "value"), Error);
      await dispose?.();
    },
  });
}

const CONTRACT: Record<string, Criterion> = {
  "get() returns null for a missing key": async (store) => {
    assertEquals(await store.get(["nothing"]), null);
  },

  "get() returns the entry of the latest commit": async (store) => {
    const versionstamp = await put(store, ["key", 1], "value");
    assertEquals(await store.get(["key", 1]), { key: ["key", 1], value: "value", versionstamp });
  },

  "get() returns texts and bytes exactly": async (store) => {
    const values = ["", '\0\u0001\n"\\', "Zoë 🐈 \u{10ffff}", new Uint8Array(), bytesOf(0, 255)];
    for (const value of values) {
      await put(store, ["value"], value);
      assertEquals((await store.get(["value"]))?.value, value);
    }
  },

  "get() returns bytes that are not shared": async (store) => {
    const bytes = bytesOf(1, 2, 3);
    await put(store, ["value"], bytes);
    bytes.fill(0);
    const read = (await store.get(["value"]))!.value as Uint8Array;
    assertEquals(read, bytesOf(1, 2, 3));
    read.fill(0);
    assertEquals((await store.get(["value"]))!.value, bytesOf(1, 2, 3));
  },

  "get() distinguishes keys with parts of different types": async (store) => {
    const keys = [["part", 1], ["part", "1"], ["part", bytesOf(49)], ["part"], ["part", 1, ""]];
    for (const [index, key] of keys.entries()) await put(store, key, `value ${index}`);
    for (const [index, key] of keys.entries()) {
      const entry = await store.get(key);
      assertEquals(entry?.key, key);
      assertEquals(entry?.value, `value ${index}`);
    }
  },

  "commit() gives its entries one versionstamp, greater than any before": async (store) => {
    let before = "";
    for (let round = 0; round < 20; round++) {
      const versionstamp = await store.commit({
        checks: [],
        mutations: [set(["one"], `${round}`), set(["other"], `${round}`)],
      });
      assert(versionstamp !== null && versionstamp > before, `${versionstamp} follows ${before}`);
      assertEquals((await store.get(["one"]))?.versionstamp, versionstamp);
      assertEquals((await store.get(["other"]))?.versionstamp, versionstamp);
      before = versionstamp;
    }
  },

  "commit() writes if every check passes": async (store) => {
    const first = await put(store, ["there"], "1");
    const checks = [{ key: ["there"], versionstamp: first }, { key: ["not"], versionstamp: null }];
    const second = await store.commit({ checks, mutations: [set(["there"], "2")] });
    assertEquals((await store.get(["there"]))?.versionstamp, second!);
    assertEquals((await store.get(["there"]))?.value, "2");
  },

  "commit() returns null and writes nothing if one of several checks fails": async (
    store,
  ) => {
    const stale = await put(store, ["there"], "1");
    const current = await put(store, ["there"], "2");
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
    assertEquals(await store.get(["new"]), null);
    assertEquals((await store.get(["there"]))?.value, "2");
    assertEquals((await store.get(["there"]))?.versionstamp, current);
  },

  "commit() applies exactly one of several concurrent commits that check the same key": async (
    store,
  ) => {
    const versionstamp = await put(store, ["head"], "0");
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, index) =>
      store.commit({
        checks: [{ key: ["head"], versionstamp }],
        mutations: [set(["head"], "1"), set(["winner", index], "")],
      })));
    assertEquals(outcomes.filter((outcome) => outcome !== null).length, 1);
    const winners = await store.list({ prefix: ["winner"] }, { limit: 10 });
    assertEquals(winners.map(({ key }) => key[1]), [outcomes.findIndex((it) => it !== null)]);
  },

  "commit() deletes, and a deleted key passes the check for a missing one": async (store) => {
    await put(store, ["key"], "value");
    const mutations = [remove(["key"]), remove(["never there"])];
    assert(await store.commit({ checks: [], mutations }) !== null);
    assertEquals(await store.get(["key"]), null);
    assertEquals(await store.list({ prefix: [] }, { limit: 10 }), []);
    const checks = [{ key: ["key"], versionstamp: null }];
    assert(await store.commit({ checks, mutations: [set(["key"], "again")] }) !== null);
    assertEquals((await store.get(["key"]))?.value, "again");
  },

  "commit() keeps an expiring entry for its lifetime": async (store) => {
    const mutation = { ...set(["key"], "value"), expireIn: 3_600_000 };
    assert(await store.commit({ checks: [], mutations: [mutation] }) !== null);
    assertEquals((await store.get(["key"]))?.value, "value");
  },

  "commit() accepts as many mutations as its limit": async (store) => {
    const mutations = numbered(COMMIT_MUTATIONS_LIMIT);
    assert(await store.commit({ checks: [], mutations }) !== null);
    const entries = await store.list({ prefix: ["number"] }, { limit: LIST_LIMIT });
    assertEquals(entries.length, COMMIT_MUTATIONS_LIMIT);
  },

  "commit() rejects more mutations than its limit, and writes nothing": async (store) => {
    const mutations = numbered(COMMIT_MUTATIONS_LIMIT + 1);
    await assertRejects(() => store.commit({ checks: [], mutations }), Error);
    assertEquals(await store.list({ prefix: [] }, { limit: 1 }), []);
  },

  "commit() rejects a value beyond 64 KiB, and writes nothing": async (store) => {
    const mutations = [set(["small"], ""), set(["large"], new Uint8Array(65_537))];
    await assertRejects(() => store.commit({ checks: [], mutations }), Error);
    assertEquals(await store.list({ prefix: [] }, { limit: 1 }), []);
  },

  "list() returns bytes, texts and numbers in key order": async (store) => {
    const parts = [
      bytesOf(),
      bytesOf(2),
      bytesOf(10),
      "",
      "Z",
      "a",
      "ab",
      "é",
      "🐈",
      -1,
      0,
      9,
      10,
      100,
    ];
    parts.push(Number.MAX_SAFE_INTEGER);
    for (const part of [...parts].reverse()) await put(store, ["p", part], "");
    const entries = await store.list({ prefix: ["p"] }, { limit: 100 });
    assertEquals(entries.map(({ key }) => key[1]), parts);
    const backwards = await store.list({ prefix: ["p"] }, { limit: 100, reverse: true });
    assertEquals(backwards.map(({ key }) => key[1]), parts.reverse());
  },

  "list() of a prefix excludes the prefix itself and its neighbours": async (store) => {
    for (const key of [["a"], ["a", 1], ["a", 1, 2], ["a", "b"], ["ab", 1], ["b", 1]]) {
      await put(store, key, "");
    }
    const entries = await store.list({ prefix: ["a"] }, { limit: 100 });
    assertEquals(entries.map(({ key }) => key), [["a", "b"], ["a", 1], ["a", 1, 2]]);
    assertEquals((await store.list({ prefix: [] }, { limit: 100 })).length, 6);
  },

  "list() of a range includes its start and excludes its end": async (store) => {
    await store.commit({ checks: [], mutations: numbered(9) });
    const range = { start: ["number", 3], end: ["number", 6] };
    assertEquals(numbersOf(await store.list(range, { limit: 100 })), [3, 4, 5]);
    assertEquals(numbersOf(await store.list(range, { limit: 100, reverse: true })), [5, 4, 3]);
    const rest = { prefix: ["number"], start: ["number", 7] };
    assertEquals(numbersOf(await store.list(rest, { limit: 100 })), [7, 8, 9]);
    const nothing = { start: ["number", 10], end: ["number", 20] };
    assertEquals(await store.list(nothing, { limit: 100 }), []);
  },

  "list() stops at its limit, from either end": async (store) => {
    await store.commit({ checks: [], mutations: numbered(9) });
    const range = { prefix: ["number"] };
    assertEquals(numbersOf(await store.list(range, { limit: 2 })), [1, 2]);
    assertEquals(numbersOf(await store.list(range, { limit: 2, reverse: true })), [9, 8]);
  },

  "list() returns entries with key, value and versionstamp": async (store) => {
    const one = await put(store, ["pet", 1], "Rex");
    const two = await put(store, ["pet", 2], bytesOf(7));
    assertEquals(await store.list({ prefix: ["pet"] }, { limit: 10 }), [
      { key: ["pet", 1], value: "Rex", versionstamp: one },
      { key: ["pet", 2], value: bytesOf(7), versionstamp: two },
    ]);
  },

  "list() reads one snapshot during commits": async (store) => {
    const count = 400;
    const mutations = numbered(count);
    await store.commit({ checks: [], mutations });
    const seen = new Set<string>();
    const commits = (async () => {
      for (let round = 0; round < 200 && seen.size < 3; round++) {
        await store.commit({ checks: [], mutations });
      }
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

async function put(store: Store, key: Deno.KvKey, value: string | Uint8Array): Promise<string> {
  const versionstamp = await store.commit({ checks: [], mutations: [set(key, value)] });
  assert(versionstamp !== null, "a commit without checks finds no conflict");
  return versionstamp;
}

function set(key: Deno.KvKey, value: string | Uint8Array) {
  return { type: "set" as const, key, value };
}

function remove(key: Deno.KvKey) {
  return { type: "delete" as const, key };
}

/** Mutations that set ["number", 1] to ["number", count]. */
function numbered(count: number) {
  return Array.from({ length: count }, (_, index) => set(["number", index + 1], `${index + 1}`));
}

function numbersOf(entries: { key: Deno.KvKey }[]): unknown[] {
  return entries.map(({ key }) => key[1]);
}

function bytesOf(...bytes: number[]): Uint8Array {
  return new Uint8Array(bytes);
}
