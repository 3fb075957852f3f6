import { assertEquals, assertRejects, assertStrictEquals } from "@std/assert";
import { ServiceError } from "../../src/service_error.ts";
import { EMPTY_HEAD, encodeHead, type Head } from "../../src/log/head.ts";
import {
  HEAD_LIMIT_MS,
  HEAD_RECENT_MS,
  HeadLostError,
  HeadReader,
} from "../../src/log/head_reader.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import { HEAD_KEY } from "../../src/keyspace.ts";
import type { Store } from "../../src/store/store.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { faultyStore, hold } from "../support/faulty_store.ts";

async function open() {
  const store = faultyStore(new KvStore(await Deno.openKv(":memory:")));
  const runtime = new FakeRuntime();
  const reports: string[] = [];
  const heads = new HeadReader(store, runtime, (level, event) => reports.push(`${level} ${event}`));
  return { store, runtime, heads, reports, [Symbol.dispose]: () => store.close() };
}

function write(store: Store, head: Head | string): Promise<string | null> {
  const value = typeof head === "string" ? head : encodeHead(head);
  return store.commit({ checks: [], mutations: [{ type: "set", key: HEAD_KEY, value }] });
}

Deno.test("fresh() shares one read among concurrent calls", async () => {
  using opened = await open();
  const { store, heads } = opened;
  await write(store, EMPTY_HEAD);
  const entries = await Promise.all(Array.from({ length: 100 }, () => heads.fresh()));
  assertEquals(store.gets.length, 1);
  for (const entry of entries) assertStrictEquals(entry, entries[0]);
});

Deno.test("fresh() joins the next read, not the one in flight", async () => {
  using opened = await open();
  const { store, heads } = opened;
  const old = await write(store, EMPTY_HEAD);
  const { fault, reached, release } = hold("after");
  store.onGet = fault;
  const first = heads.fresh();
  await reached;
  const current = await write(store, { ...EMPTY_HEAD, position: 1 });
  const late = [heads.fresh(), heads.fresh()];
  release();
  assertEquals((await first).versionstamp, old);
  for (const entry of await Promise.all(late)) assertEquals(entry.versionstamp, current);
  assertEquals(store.gets.length, 2);
});

Deno.test("fresh() resolves a call that waits for a read that fails", async () => {
  using opened = await open();
  const { store, heads } = opened;
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const { promise: failed, reject: fail } = Promise.withResolvers<never>();
  store.onGet = () => {
    begin();
    return failed;
  };
  const first = assertRejects(() => heads.fresh(), Error, "connection refused");
  await begun;
  store.onGet = (apply) => apply();
  const second = heads.fresh();
  fail(new Error("connection refused"));
  await first;
  assertEquals((await second).head, EMPTY_HEAD);
});

Deno.test("latest never goes back to an older head", async () => {
  using opened = await open();
  const { heads } = opened;
  const [one, two] = [{ ...EMPTY_HEAD, position: 1 }, { ...EMPTY_HEAD, position: 2 }];
  heads.advance({ head: EMPTY_HEAD, versionstamp: null });
  heads.advance({ head: two, versionstamp: "00000000000000020000" });
  heads.advance({ head: one, versionstamp: "00000000000000010000" });
  heads.advance({ head: EMPTY_HEAD, versionstamp: null });
  assertEquals(heads.latest?.head, two);
});

Deno.test("use() returns the outcome of work on a fresh head, unless it took longer than a generation is kept", async () => {
  using opened = await open();
  const { heads, runtime, store } = opened;
  await write(store, { ...EMPTY_HEAD, position: 1 });
  const after = (ms: number, isRefused = false) =>
    heads.use(async ({ position }) => {
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

Deno.test("fresh() rejects if a head disappears, and logs it once", async () => {
  using opened = await open();
  const { store, heads, reports } = opened;
  assertEquals((await heads.fresh()).head, EMPTY_HEAD, "an empty store may have no head at first");
  await write(store, { ...EMPTY_HEAD, position: 3 });
  await heads.fresh();
  await store.commit({ checks: [], mutations: [{ type: "delete", key: HEAD_KEY }] });
  for (let times = 0; times < 3; times++) {
    await assertRejects(
      () => heads.fresh(),
      HeadLostError,
      "The store's head record is missing, and this instance has seen one at position 3",
    );
  }
  assertEquals(reports, ["error head_lost"]);
  await write(store, { ...EMPTY_HEAD, position: 4 });
  assertEquals((await heads.fresh()).head.position, 4);
  assertEquals(reports, ["error head_lost", "info head_found"]);
});

Deno.test("fresh() rejects a head that is older than the latest or belongs to another log", async () => {
  const hash = "1".repeat(64);
  const others: [Head, string][] = [
    [
      { ...EMPTY_HEAD, position: 2 },
      "is an older one, at position 2, and this instance has seen one at position 3",
    ],
    [{ ...EMPTY_HEAD, position: 0 }, "is an older one, at position 0"],
    [{ ...EMPTY_HEAD, position: 3, lastHash: hash }, "is that of another log"],
  ];
  for (const [head, reason] of others) {
    using opened = await open();
    const { store, heads } = opened;
    await write(store, { ...EMPTY_HEAD, position: 3 });
    await heads.fresh();
    await write(store, head);
    await assertRejects(() => heads.fresh(), HeadLostError, reason);
  }
});

Deno.test("fresh() names the versions if the position does not show that a head is older", async () => {
  using opened = await open();
  const { store, heads } = opened;
  const older = await write(store, { ...EMPTY_HEAD, position: 4 });
  const newer = `${older}z`;
  heads.advance({ head: { ...EMPTY_HEAD, position: 3 }, versionstamp: newer });
  await assertRejects(
    () => heads.fresh(),
    HeadLostError,
    `is an older one, with version ${older} at position 4, and this instance has seen version ` +
      `${newer} at position 3`,
  );
});

Deno.test("fresh() accepts a head that is older than a commit during its read", async () => {
  using opened = await open();
  const { store, heads } = opened;
  const old = await write(store, { ...EMPTY_HEAD, position: 1 });
  store.onGet = async (apply) => {
    const seen = await apply();
    heads.advance({ head: { ...EMPTY_HEAD, position: 2 }, versionstamp: `${old}z` });
    return seen;
  };
  assertEquals((await heads.fresh()).head.position, 1);
  assertEquals(heads.latest?.head.position, 2);
});

Deno.test("recent is the latest head until HEAD_RECENT_MS after it was read or written", async () => {
  using opened = await open();
  const { store, heads, runtime } = opened;
  assertEquals(heads.recent, undefined);
  await write(store, { ...EMPTY_HEAD, position: 1 });
  for (let times = 0; times < 2; times++) {
    await heads.fresh();
    await runtime.advance(HEAD_RECENT_MS);
    assertEquals(heads.recent?.position, 1);
    await runtime.advance(1);
    assertEquals(heads.recent, undefined);
  }
});
