import { APPLICATION } from "../../../src/application.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { spy } from "@std/testing/mock";
import { EMPTY_HEAD, encodeHead, type HeadEntry } from "../../../src/eventstore_less/log/head.ts";
import {
  HEAD_LIMIT_MS,
  HeadLostError,
  HeadReader,
} from "../../../src/eventstore_less/log/head_reader.ts";
import { ServiceError } from "../../../src/eventstore_less/service_error.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import type { Mutation } from "../../../src/eventstore_less/store/store.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { faultyStore, hold } from "../../support/faulty_store.ts";
import { commit } from "../../support/store_contract.ts";

/** A reader of a store in memory, and a way to replace the head of the store. */
async function open() {
  const runtime = new FakeRuntime();
  const store = faultyStore(runtime.awaited(await SqliteStore.open(":memory:")));
  const report = spy();
  const heads = new HeadReader(APPLICATION, store, runtime, report);
  const write = async (head: Partial<Head>) => {
    const value = encodeHead(APPLICATION, { ...EMPTY_HEAD, ...head });
    const mutations: Mutation[] = [{ type: "set", key: HEAD_KEY, value }];
    return await commit(store.inner, mutations);
  };
  const reports = () => report.calls.map(({ args: [level, event] }) => `${level} ${event}`);
  return { store, runtime, heads, write, reports, [Symbol.dispose]: () => store.close() };
}

/** A head that was read or written elsewhere. */
function entryAt(position: number, versionstamp: string): HeadEntry {
  return { head: { ...EMPTY_HEAD, position }, versionstamp };
}

Deno.test("fresh() joins the next read, not the one in flight, whatever becomes of that", async () => {
  for (const fails of [false, true]) {
    using opened = await open();
    const { store, heads, write } = opened;
    const old = await write({});
    const { fault, reached, release } = hold("after");
    store.onGet = async (apply) => {
      const entry = await fault(apply);
      if (fails && entry?.versionstamp === old) throw new Error("connection refused");
      return entry;
    };
    const first = heads.fresh();
    const outcome = fails ? assertRejects(() => first, Error, "connection refused") : first;
    await reached;
    const current = await write({ position: 1 });
    const late = [heads.fresh(), heads.fresh()];
    release();
    await outcome;
    for (const entry of await Promise.all(late)) assertEquals(entry.versionstamp, current);
    assertEquals(store.gets.length, 2);
  }
});

Deno.test("use() returns the outcome of work on a fresh head, unless it took longer than a generation is kept", async () => {
  using opened = await open();
  const { heads, runtime, write } = opened;
  await write({ position: 1 });
  const after = (ms: number, isRefused = false) =>
    heads.use(async ({ head: { position } }) => {
      await runtime.advance(ms);
      if (isRefused) throw new ServiceError("invalid_credentials", "The API key is not known");
      return position;
    });
  assertEquals(await after(HEAD_LIMIT_MS), 1);
  await assertRejects(() => after(HEAD_LIMIT_MS, true), ServiceError, "is not known");
  for (const isRefused of [false, true]) {
    const late = await assertRejects(() => after(HEAD_LIMIT_MS + 1, isRefused), ServiceError);
    assertEquals(late.code, "store_unavailable");
  }
});

Deno.test("fresh() rejects if a head disappears, and logs each loss and the return", async () => {
  await using opened = await open();
  const { store, heads, write, reports } = opened;
  assertEquals((await heads.fresh()).head, EMPTY_HEAD, "an empty store may have no head at first");
  await write({ position: 3 });
  await heads.fresh();
  await commit(store.inner, [{ type: "delete", key: HEAD_KEY }]);
  for (let times = 0; times < 3; times++) {
    await assertRejects(
      () => heads.fresh(),
      HeadLostError,
      "The store's head record is missing, and this instance has seen version ",
    );
  }
  const losses = Array(3).fill("error head_lost");
  assertEquals(reports(), losses);
  await write({ position: 4 });
  assertEquals((await heads.fresh()).head.position, 4);
  assertEquals(reports(), [...losses, "info head_found"]);
});

Deno.test("fresh() rejects a head that is older than the latest or belongs to another log", async () => {
  const others: [head: Partial<Head>, known: string | undefined, reason: string][] = [
    [{ position: 2 }, undefined, "is an older one, version "],
    [{ position: 0 }, undefined, "is an older one, version "],
    [{ position: 4 }, "f".repeat(20), "at position 4, and this instance has seen version "],
    [{ position: 3, lastHash: "1".repeat(64) }, undefined, "is that of another log"],
  ];
  for (const [head, known, reason] of others) {
    using opened = await open();
    const { heads, write } = opened;
    heads.advance(entryAt(3, known ?? await write({ position: 3 })));
    await write(head);
    await assertRejects(() => heads.fresh(), HeadLostError, reason);
  }
});
