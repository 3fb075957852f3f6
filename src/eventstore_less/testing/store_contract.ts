import { deepStrictEqual, ok, rejects } from "node:assert/strict";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { HEAD_KEY } from "../keyspace.ts";
import { scan } from "../store/scan.ts";
import {
  type Key,
  type KeyRange,
  type Mutation,
  type SetMutation,
  type Snapshot,
  type Store,
  type StoreEntry,
  VALUE_BYTES_LIMIT,
} from "../store/store.ts";
import { NotAppliedError, StoreRefusedError } from "../store/store_errors.ts";

/** Opens a new, empty store. */
export type OpenEmptyStore = () => Promise<Store>;

/** Number of snapshots that one case takes while another caller commits. */
const SNAPSHOTS = 300;

/** A case that gets an open, empty store. */
type Check = (store: Store, snapshots: number) => Promise<void>;

function checkOpen(check: Check) {
  return async (open: OpenEmptyStore, snapshots = SNAPSHOTS) => {
    const store = await open();
    try {
      await check(store, snapshots);
    } finally {
      store.close();
    }
  };
}

const CASES_OF_OPEN_STORES: Record<string, Check> = {
  "get() returns bytes exactly": async (store) => {
    const values = [
      new Uint8Array(),
      Uint8Array.from({ length: 256 }, (_, byte) => byte),
      new Uint8Array(VALUE_BYTES_LIMIT).fill(255),
    ];
    for (const value of values) {
      await put(store, ["value"], value);
      deepStrictEqual((await store.get(["value"]))?.value, value);
    }
    // Nobody else changes the bytes.
    const bytes = Uint8Array.of(1, 2, 3);
    await put(store, ["value"], bytes);
    bytes.fill(0);
    for (let times = 0; times < 2; times++) {
      const read = (await store.get(["value"]))!.value as Uint8Array;
      deepStrictEqual(read, Uint8Array.of(1, 2, 3));
      read.fill(0);
    }
  },

  "get() and list() return whole entries of any key": async (store) => {
    const keys = [["part", Uint8Array.of(49)], ["part", "1"], ["part", 1], ["part", 1, ""]];
    const entries = [];
    for (const [index, key] of keys.entries()) {
      const value = encodeUtf8(`value ${index}`);
      entries.push({ key, value, versionstamp: await commit(store, [set(key, value)]) });
    }
    for (const entry of entries) deepStrictEqual(await store.get(entry.key), entry);
    deepStrictEqual(await store.list({ prefix: ["part"] }, { limit: 10 }), entries);
  },

  "commit() gives its entries one versionstamp, greater than any before": async (store) => {
    let before = "";
    for (let round = 0; round < 20; round++) {
      const mutations = [set(["one"], `${round}`), set(["other"], `${round}`)];
      const versionstamp = await commit(store, mutations);
      ok(versionstamp > before, `${versionstamp} follows ${before}`);
      const { entries } = await store.snapshot([["one"], ["other"]], [], { limit: 0 });
      deepStrictEqual(entries.map((entry) => entry?.versionstamp), [versionstamp, versionstamp]);
      before = versionstamp;
    }
  },

  "commit() writes if its guard is as expected, else returns null and writes nothing": async (
    store,
  ) => {
    for (const there of [["there"], HEAD_KEY]) {
      const stale = await put(store, there, "1");
      const mutations = [set(there, "2"), set(["beside"], "2")];
      const guard = { key: there, versionstamp: stale };
      const current = (await store.commit({ guard, mutations }))!;
      const failing = [
        { key: there, versionstamp: stale },
        { key: there, versionstamp: null },
        { key: ["not"], versionstamp: current },
      ];
      for (const guard of failing) {
        const mutations = [set(["new"], "3"), set(["beside"], "3"), set(guard.key, "3")];
        deepStrictEqual(await store.commit({ guard, mutations }), null);
        const removal = { type: "delete" as const, key: guard.key };
        deepStrictEqual(
          await store.commit({ guard, mutations: [set(["new"], "3"), removal] }),
          null,
        );
      }
      const expected = [there, ["beside"]].map((key) => ({
        key,
        value: encodeUtf8("2"),
        versionstamp: current,
      }));
      const { entries } = await store.snapshot([there, ["beside"], ["new"], ["not"]], [], {
        limit: 0,
      });
      deepStrictEqual(entries, [...expected, null, null]);
    }
  },

  "commit() applies exactly one of several commits with the same guard": async (store) => {
    const versionstamp = await put(store, ["head"], "0");
    const guards = [
      { key: ["head"], versionstamp },
      { key: ["claim"], versionstamp: await put(store, ["claim"], "0") },
      { key: ["new"], versionstamp: null },
    ];
    for (const guard of guards) {
      const prefix = ["winner", ...guard.key];
      const attempts = [...Array(10).keys()].map((index) =>
        store.commit({ guard, mutations: [set(guard.key, "1"), set([...prefix, index], "")] })
      );
      const outcomes = await Promise.all(attempts);
      deepStrictEqual(outcomes.filter((outcome) => outcome !== null).length, 1);
      const winner = [...prefix, outcomes.findIndex((outcome) => outcome !== null)];
      deepStrictEqual(await keysOf(store, { prefix }), [winner]);
    }
  },

  "commit() deletes, also its guard, which is then missing": async (store) => {
    await put(store, ["key"], "value");
    const mutations = [["key"], ["never there"]].map((key) => ({ type: "delete" as const, key }));
    await commit(store, mutations);
    deepStrictEqual(await store.get(["key"]), null);
    deepStrictEqual(await keysOf(store, { prefix: [] }), []);
    const missing = { key: ["key"], versionstamp: null };
    ok(await store.commit({ guard: missing, mutations }) !== null);
    deepStrictEqual(await keysOf(store, { prefix: [] }), []);
    const setting = { guard: missing, mutations: [set(["key"], "again")] };
    ok(await store.commit(setting) !== null);
    const again = await store.get(["key"]);
    deepStrictEqual(again?.value, encodeUtf8("again"));
    const deleting = { guard: { key: ["key"], versionstamp: again!.versionstamp }, mutations };
    ok(await store.commit(deleting) !== null);
    deepStrictEqual(await store.commit(deleting), null);
    deepStrictEqual(await store.get(["key"]), null);
  },

  "commit() accepts as many mutations as its limit, and refuses one more": async (store) => {
    const { commitMutations } = store.limits;
    await expectRefused(store, numbered(commitMutations + 1));
    await commit(store, numbered(commitMutations));
    deepStrictEqual(await count(store), commitMutations);
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
    deepStrictEqual(await count(store), mutations.length + keys.length);
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
    deepStrictEqual(await keysOf(store, { prefix: ["p"] }), keys);
    deepStrictEqual(await keysOf(store, { prefix: ["p"] }, 100, true), keys.toReversed());
    // Each key is also a bound.
    for (const [index, key] of keys.entries()) {
      deepStrictEqual(await keysOf(store, { prefix: ["p"], start: key }, 1), [key]);
      const before = await keysOf(store, { start: ["p"], end: key }, 1, true);
      deepStrictEqual(before, keys.slice(Math.max(index - 1, 0), index));
    }
  },

  "list() of a prefix excludes the prefix itself, and continues after a key": async (
    store,
  ) => {
    const within = [["a", "b"], ["a", 1], ["a", 1, Uint8Array.of(0)], ["a", 1, 1], ["a", 2]];
    for (const key of [["a"], ["ab", 1], ["b", 1], ...within]) await put(store, key, "");
    deepStrictEqual(await keysOf(store, { prefix: ["a"] }), within);
    deepStrictEqual(await keysOf(store, { prefix: ["a"] }, 100, true), within.toReversed());
    deepStrictEqual((await keysOf(store, { prefix: [] })).length, within.length + 3);
    const start = ["a", 1, Uint8Array.of()];
    for (const range of [{ prefix: ["a"], start }, { start, end: ["ab"] }]) {
      deepStrictEqual(await keysOf(store, range), within.slice(2));
    }
  },

  "list() of a range includes its start and not its end, up to a limit": async (
    store,
  ) => {
    await commit(store, numbered(9));
    const numbers = async (range: KeyRange, limit?: number, reverse?: boolean) =>
      (await keysOf(store, range, limit, reverse)).map(([, number]) => number);
    const range = { start: ["number", 3], end: ["number", 6] };
    deepStrictEqual(await numbers(range), [3, 4, 5]);
    deepStrictEqual(await numbers(range, 100, true), [5, 4, 3]);
    const rest = { prefix: ["number"], start: ["number", 7] };
    deepStrictEqual(await numbers(rest), [7, 8, 9]);
    deepStrictEqual(await numbers(rest, 2, true), [9, 8]);
    const first = { start: ["number"], end: ["number", 3] };
    deepStrictEqual(await numbers(first), [1, 2]);
    deepStrictEqual(await numbers(first, 1, true), [2]);
    deepStrictEqual(await numbers({ start: ["number", 10], end: ["number", 20] }), []);
    const { listEntries } = store.limits;
    deepStrictEqual((await numbers(rest, listEntries)).length, 3);
    await rejects(() => numbers(rest, listEntries + 1), StoreRefusedError);
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
      deepStrictEqual(entries.length, count);
      deepStrictEqual(new Set(entries.map(({ versionstamp }) => versionstamp)).size, 1);
      seen.add(entries[0].versionstamp);
      isDone = await Promise.race([commits, undefined]) === "done";
    }
    ok(seen.size >= 3, "the lists fell between commits");
  },

  "snapshot() returns the entries of any number of keys, in their order": async (store) => {
    const there: Key[] = Array.from({ length: 300 }, (_, index) => ["there", index, "ä"]);
    const missing: Key[] = Array.from({ length: 200 }, (_, index) => ["missing", index]);
    await commit(store, there.map((key) => set(key, key.join())));
    await put(store, HEAD_KEY, "head");
    const expected = new Map<Key, StoreEntry | null>(missing.map((key) => [key, null]));
    for (const key of [...there, HEAD_KEY]) expected.set(key, await store.get(key));
    const keys = [HEAD_KEY, ...missing, ...there.toReversed(), HEAD_KEY, ...there.slice(0, 20)];
    const { entries, lists } = await store.snapshot(keys, [], { limit: 0 });
    deepStrictEqual(entries, keys.map((key) => expected.get(key)));
    deepStrictEqual(lists, []);
    deepStrictEqual(await store.snapshot([], [], { limit: 0 }), { entries: [], lists: [] });
  },

  "snapshot() returns what list() does, of ranges that overlap, are empty or have the head": async (
    store,
  ) => {
    await commit(store, [set(HEAD_KEY, "head"), set(["a"], "a"), set(["z"], "z"), ...numbered(9)]);
    const ranges: KeyRange[] = [
      { prefix: ["number"], start: ["number", 3] },
      { start: ["number", 2], end: ["number", 5] },
      { prefix: [] },
      { prefix: ["missing"] },
      { start: HEAD_KEY, end: ["number", 2] },
      { start: ["number", 5], end: ["number", 5] },
      ...Array.from({ length: 9 }, (_, index) => ({
        start: ["number", index],
        end: ["number", index + 2],
      })),
      { prefix: ["number"], start: ["number", 3] },
    ];
    for (const limit of [1, 2, 100, store.limits.listEntries]) {
      for (const reverse of [false, true]) {
        const options = { limit, reverse };
        const { entries, lists } = await store.snapshot([], ranges, options);
        deepStrictEqual(entries, []);
        deepStrictEqual(
          lists,
          await Promise.all(ranges.map((range) => store.list(range, options))),
        );
      }
    }
    const { lists } = await store.snapshot([], ranges, { limit: 100 });
    deepStrictEqual(lists.map(({ length }) => length), [
      7,
      3,
      12,
      0,
      2,
      0,
      1,
      ...Array(8).fill(2),
      7,
    ]);
  },

  "snapshot() returns the entries of keys beside those of ranges, and refuses too large a limit":
    async (store) => {
      await commit(store, [set(HEAD_KEY, "head"), ...numbered(9)]);
      const keys = [["number", 7], HEAD_KEY, ["missing"], ["number", 7]];
      const ranges = [{ prefix: ["number"], start: ["number", 7] }, { prefix: ["missing"] }];
      const { entries, lists } = await store.snapshot(keys, ranges, { limit: 2, reverse: true });
      const [seven, head] = await Promise.all(keys.map((key) => store.get(key)));
      const [nine, eight] = await Promise.all([9, 8].map((it) => store.get(["number", it])));
      deepStrictEqual(entries, [seven, head, null, seven]);
      deepStrictEqual(lists, [[nine, eight], []]);
      const limit = store.limits.listEntries + 1;
      await rejects(() => store.snapshot(keys, ranges, { limit }), StoreRefusedError);
    },

  "snapshot() reads keys and ranges at one moment beside constant commits": expectOneMoment,
};

/**
 * The contract of {@linkcode Store}: cases by their names. Each case opens one store, closes it, and rejects with an
 * `AssertionError` if the store does not keep the contract. `snapshots` (default: 300) is the number of snapshots that one
 * case takes while another caller commits; more of them find rarer faults.
 *
 * ```ts
 * import { STORE_CONTRACT } from "eventstore-less/testing";
 * import { test } from "node:test";
 *
 * for (const [name, check] of Object.entries(STORE_CONTRACT)) {
 *   test(name, () => check(() => MyStore.open(newPath())));
 * }
 * ```
 */
export const STORE_CONTRACT: Readonly<
  Record<string, (open: OpenEmptyStore, snapshots?: number) => Promise<void>>
> = {
  "every call after close() rejects": async (open) => {
    const store = await open();
    store.close();
    await rejects(() => store.get(["key"]), Error);
    await rejects(() => keysOf(store, { prefix: [] }), Error);
    await rejects(() => store.snapshot([["key"]], [{ prefix: [] }], { limit: 1 }), Error);
    await rejects(() => put(store, ["key"], "value"), Error);
  },
  ...Object.fromEntries(
    Object.entries(CASES_OF_OPEN_STORES).map(([name, check]) => [name, checkOpen(check)]),
  ),
};

/** Number of different rests of the writer. */
const RESTS = 8;

/** Records that a writer moves between two lists, one with each commit. */
const MOVED = 40;

/**
 * Takes snapshots while a writer moves records from one list to another and replaces the head, which counts its commits.
 * Rejects unless each snapshot has each record in the list where it was at the commit that the head names.
 */
export async function expectOneMoment(store: Store, snapshots: number): Promise<void> {
  const numbers = Array.from({ length: MOVED }, (_, index) => index + 1);
  const start = numbers.map((number) => set(["one", number], "0"));
  let versionstamp = await commit(store, [set(HEAD_KEY, "0"), ...start]);
  let isOver = false;
  let restMs = 0;
  const write = async () => {
    for (let count = 1; !isOver; count++) {
      const number = movedBy(count);
      const [from, to] = placeOf(number, count) === "other" ? ["one", "other"] : ["other", "one"];
      const moving = {
        guard: { key: HEAD_KEY, versionstamp },
        mutations: [
          set(HEAD_KEY, `${count}`),
          { type: "delete" as const, key: [from, number] },
          set([to, number], `${count}`),
        ],
      };
      const landed = await untilApplied(() => store.commit(moving));
      ok(landed !== null, "nobody else commits");
      versionstamp = landed;
      // A store in memory answers without a turn of the event loop, which others need.
      await nextTurn();
      if (restMs > 0) await sleep(restMs * (count % RESTS) / RESTS);
    }
  };
  const writing = write();
  const ranges = ["one", "other"].map((list) => ({ prefix: [list] }));
  const few: Key[] = [["one", 1], ["other", 1]];
  const many: Key[] = numbers.flatMap((number) => [["one", number], ["other", number]]);
  const heads = new Set<number>();
  try {
    // They must see many heads, or the commits came before or after them.
    for (let taken = 0; taken < snapshots || heads.size < snapshots / 6; taken++) {
      const keys = taken % 2 === 0 ? few : many;
      const reverse = taken % 3 === 0;
      const snapshot = await untilApplied(
        () => store.snapshot([...keys, HEAD_KEY], ranges, { limit: MOVED, reverse }),
        // A store without such snapshots may need moments without a commit.
        () => restMs = Math.min(2 * restMs + 5, 200),
      );
      heads.add(expectStateOfHead(snapshot, keys, reverse));
      await nextTurn();
    }
  } finally {
    isOver = true;
    await writing;
  }
}

/** The number of the record that a commit moves. */
function movedBy(count: number): number {
  return (count - 1) % MOVED + 1;
}

/** The list of a record after so many commits. */
function placeOf(number: number, count: number): "one" | "other" {
  const moves = Math.floor((count + MOVED - number) / MOVED);
  return moves % 2 === 0 ? "one" : "other";
}

/** The value of a record after so many commits: the last one that moved it, or 0. */
function valueOf(number: number, count: number): string {
  const moves = Math.floor((count + MOVED - number) / MOVED);
  return moves === 0 ? "0" : `${(moves - 1) * MOVED + number}`;
}

/** Asserts that a snapshot has what the store had after the commit that its head names, and returns the number of this. */
function expectStateOfHead(
  { entries, lists }: Snapshot,
  keys: readonly Key[],
  reverse: boolean,
): number {
  const textOf = (entry: StoreEntry) => new TextDecoder().decode(entry.value as Uint8Array);
  const count = Number(textOf(entries.at(-1)!));
  const expectedAt = ([list, number]: Key) =>
    placeOf(number as number, count) === list ? valueOf(number as number, count) : null;
  const found = entries.slice(0, -1).map((entry) => entry === null ? null : textOf(entry));
  deepStrictEqual(found, keys.map(expectedAt));
  for (const [index, list] of ["one", "other"].entries()) {
    const expected: [Key, string][] = [];
    for (let number = 1; number <= MOVED; number++) {
      if (placeOf(number, count) === list) expected.push([[list, number], valueOf(number, count)]);
    }
    if (reverse) expected.reverse();
    deepStrictEqual(lists[index].map((entry) => [entry.key, textOf(entry)]), expected);
  }
  return count;
}

/** Repeats a call until it is applied. */
async function untilApplied<T>(call: () => Promise<T>, onBusy = () => {}): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof NotAppliedError)) throw error;
      onBusy();
      await nextTurn();
    }
  }
}

/** Commits one record, whatever is stored under its key, and resolves to the versionstamp. */
export function put(store: Store, key: Key, value: string | Uint8Array): Promise<string> {
  return commit(store, [set(key, value)]);
}

/** Commits with the head, or else the record of the first mutation, as it is as the guard. Resolves to the versionstamp. */
export async function commit(store: Store, mutations: Mutation[]): Promise<string> {
  const { key } = mutations.find(({ key }) => key[0] === HEAD_KEY[0]) ?? mutations[0];
  const found = await store.get(key);
  const guard = { key, versionstamp: found?.versionstamp ?? null };
  const versionstamp = await store.commit({ guard, mutations });
  ok(versionstamp !== null, "nobody else writes the record");
  return versionstamp;
}

export function set(key: Key, value: string | Uint8Array): SetMutation {
  return { type: "set", key, value: typeof value === "string" ? encodeUtf8(value) : value };
}

async function expectRefused(store: Store, mutations: Mutation[]): Promise<void> {
  await rejects(() => commit(store, mutations), StoreRefusedError);
  deepStrictEqual(await count(store), 0);
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

const encoder = new TextEncoder();

function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text);
}
