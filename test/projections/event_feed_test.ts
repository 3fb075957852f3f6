import { assertEquals, assertRejects } from "@std/assert";
import { HEAD_KEY, logKey } from "../../src/keyspace.ts";
import { readHead } from "../../src/log/head.ts";
import { EventFeed, type FeedLine, PART_LENGTH } from "../../src/projections/event_feed.ts";
import { ServiceError } from "../../src/service_error.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { sampleLog } from "../support/sample_log.ts";
import { openSampleStore, writeLog } from "../support/sample_store.ts";
import { TEST_STORES } from "../support/test_service.ts";

const LENGTH = 2 * PART_LENGTH + 10;

async function openFeed(length = LENGTH) {
  const sample = await openSampleStore(length);
  const store = faultyStore(sample.store);
  return { ...sample, store, feed: new EventFeed(store), entry: await readHead(store) };
}

/** Reads on from a position to the head. */
async function readAll({ feed, entry }: Awaited<ReturnType<typeof openFeed>>, position = 0) {
  const read: FeedLine[] = [];
  while (position < entry.head.position) {
    const lines = await feed.linesAfter(position, entry);
    read.push(...lines);
    position = lines.at(-1)!.position;
  }
  return read;
}

Deno.test("EventFeed reads each part of the log once for all who read at the same time", async () => {
  using sample = await openFeed();
  const alone = await readAll(sample);
  assertEquals(alone.map(({ position }) => position), sample.lines.map((_, index) => index + 1));
  const { lists } = sample.store;
  const reads = lists.length;
  for (const from of [0, 1, PART_LENGTH - 1, PART_LENGTH, LENGTH - 1]) {
    const together = await Promise.all([1, 2, 3].map(() => readAll(sample, from)));
    for (const lines of together) assertEquals(lines, alone.slice(from));
  }
  assertEquals(lists.length, reads);
  const cold = { ...sample, feed: new EventFeed(sample.store) };
  await Promise.all(Array.from({ length: 50 }, (_, from) => readAll(cold, from)));
  assertEquals(lists.length, 2 * reads);
});

Deno.test("EventFeed shows a head only what was in the log then", async () => {
  using sample = await openFeed();
  const earlier = { ...sample.entry, head: { ...sample.head, position: 300 } };
  const before = await readAll({ ...sample, entry: earlier });
  assertEquals(before.length, 300);
  assertEquals((await readAll(sample)).slice(0, 300), before);
  assertEquals((await readAll({ ...sample, entry: earlier }, 200)).at(-1)!.position, 300);
});

Deno.test("EventFeed finds the position of an id, and none for an id of another log", async () => {
  using sample = await openFeed(20);
  const { feed, entry } = sample;
  const ids = (await readAll(sample)).map(({ id }) => id);
  for (const [index, id] of ids.entries()) {
    assertEquals(await feed.positionOf(id, entry), index + 1);
    const [position, hash] = id.split("-");
    for (const other of [`${position}-${hash.slice(1)}0`, `${"9".repeat(16)}-${hash}`]) {
      assertEquals(await feed.positionOf(other, entry), undefined, other);
    }
  }
  assertEquals(feed.idOf(entry.head), ids.at(-1));
  const start = `${"0".repeat(16)}-`;
  assertEquals(await feed.positionOf(start + "0".repeat(16), entry), 0);
  assertEquals(await feed.positionOf(start + "1".repeat(16), entry), undefined);
});

Deno.test("EventFeed does not continue what it has read with another log, and then reads that one", async () => {
  for (const length of [20, PART_LENGTH]) {
    using sample = await openFeed(length);
    const { feed, store, runtime } = sample;
    const last = (await readAll(sample)).at(-1)!;
    const other = await TEST_STORES.open();
    await writeLog(other, runtime, sampleLog(length + 10, runtime.now() + 1));
    store.onList = (_, range, options) => other.list(range, options);
    const entry = await readHead(other);
    const error = await assertRejects(() => readAll({ ...sample, entry }), ServiceError);
    assertEquals(error.code, "store_unavailable");
    assertEquals(await feed.positionOf(last.id, entry), undefined);
    assertEquals((await readAll({ ...sample, entry })).length, length + 10);
    other.close();
  }
});

Deno.test("EventFeed refuses to skip lines that are missing, and reads them when they are back", async () => {
  using sample = await openFeed(20);
  const { store, feed, entry } = sample;
  const all = (await readAll(sample)).length;
  const cold = { ...sample, feed: new EventFeed(store) };
  const [removed] = await store.list({ start: logKey(5), end: logKey(20) }, { limit: 1 });
  const checks = [{ key: HEAD_KEY, versionstamp: entry.versionstamp }];
  await store.commit({ checks, mutations: [{ type: "delete", key: removed.key }] });
  const error = await assertRejects(() => readAll(cold), ServiceError);
  assertEquals(error.code, "store_unavailable");
  assertEquals((await readAll({ ...sample, feed })).length, all);
  const { key, value } = removed;
  await store.commit({ checks, mutations: [{ type: "set", key, value: value as Uint8Array }] });
  assertEquals((await readAll(cold)).length, all);
});
