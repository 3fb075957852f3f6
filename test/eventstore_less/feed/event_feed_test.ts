import { APPLICATION } from "../../../src/application.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { logKey, logMutations } from "../../../src/eventstore_less/keyspace.ts";
import { readHead } from "../../../src/eventstore_less/log/head.ts";
import {
  EventFeed,
  type FeedLine,
  feedPositionOf,
  type Place,
  SEGMENT_LENGTH,
} from "../../../src/eventstore_less/feed/event_feed.ts";
import {
  BackgroundWork,
  QUIET_TURN_MS,
} from "../../../src/eventstore_less/feed/background_work.ts";
import { ServiceError } from "../../../src/eventstore_less/service_error.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import type { Store } from "../../../src/eventstore_less/store/store.ts";
import { faultyStore } from "../../support/faulty_store.ts";
import { sampleLog } from "../../support/sample_log.ts";
import { openSampleStore, writeLog } from "../../support/sample_store.ts";
import { utf8 } from "../../support/utf8.ts";
import { commit } from "../../support/store_contract.ts";

const LENGTH = 2 * SEGMENT_LENGTH + 10;

async function openFeed(length = LENGTH) {
  const sample = await openSampleStore(length);
  const store = faultyStore(sample.store);
  return { ...sample, store, feed: feedOf(store), entry: await readHead(APPLICATION, store) };
}

function feedOf(store: Store, runtime = new FakeRuntime()) {
  return new EventFeed(APPLICATION, store, new BackgroundWork(runtime));
}

const BEGINNING: Place = { position: 0, id: `${"0".repeat(16)}-${"0".repeat(16)}` };

/** Reads on from a place to the head. */
async function readAll({ feed, entry }: Awaited<ReturnType<typeof openFeed>>, place = BEGINNING) {
  const read: FeedLine[] = [];
  while (place.position < entry.head.position) {
    read.push(...await feed.linesAfter(place, entry));
    place = read.at(-1)!;
  }
  return read;
}

/** The code with which the feed refuses to read on from a place. */
async function refusal({ feed, entry }: Awaited<ReturnType<typeof openFeed>>, place: Place) {
  return (await assertRejects(() => feed.linesAfter(place, entry), ServiceError)).code;
}

Deno.test("EventFeed reads each part of the log once for all who read at the same time", async () => {
  await using sample = await openFeed();
  const alone = await readAll(sample);
  assertEquals(alone.map(({ position }) => position), sample.lines.map((_, index) => index + 1));
  const { lists } = sample.store;
  const reads = lists.length;
  for (const from of [1, SEGMENT_LENGTH - 1, SEGMENT_LENGTH, LENGTH - 1]) {
    const together = await Promise.all([1, 2, 3].map(() => readAll(sample, alone[from - 1])));
    for (const lines of together) assertEquals(lines, alone.slice(from));
  }
  assertEquals(lists.length, reads);
});

Deno.test("EventFeed shows a head only what was in the log then", async () => {
  await using sample = await openFeed();
  const earlier = { ...sample.entry, head: { ...sample.head, position: 300 } };
  const before = await readAll({ ...sample, entry: earlier });
  assertEquals(before.length, 300);
  assertEquals((await readAll(sample)).slice(0, 300), before);
  const rest = await readAll({ ...sample, entry: earlier }, before[199]);
  assertEquals(rest.at(-1)!.position, 300);
});

Deno.test("EventFeed lets others run between the lines that are far behind the head, and only between these", async () => {
  await using sample = await openFeed();
  const runtime = new FakeRuntime();
  const { monotonicNow, nextTurn } = runtime;
  // Each line takes a millisecond.
  let time = 0;
  let turns = 0;
  runtime.monotonicNow = () => monotonicNow() + time++;
  runtime.nextTurn = () => {
    turns++;
    return nextTurn();
  };
  const feed = feedOf(sample.store, runtime);
  const read = await runtime.settle(readAll({ ...sample, feed }));
  assertEquals(read.length, LENGTH);
  assert(turns > SEGMENT_LENGTH / QUIET_TURN_MS, `${turns} turns`);
  turns = 0;
  // What is in memory by now is read in turns, too: many clients may be behind.
  for (let count = 0; count < 100; count++) {
    await runtime.settle(feed.linesAfter(BEGINNING, sample.entry));
  }
  assert(turns > 1, `${turns} turns`);
  turns = 0;
  const cold = { ...sample, feed: feedOf(sample.store, runtime) };
  await readAll(cold, read[LENGTH - SEGMENT_LENGTH - 1]);
  assertEquals(turns, 0);
  await cold.feed.expectPlace(BEGINNING, sample.entry);
  assertEquals(turns, 0, "The check of a place does not wait either");
});

Deno.test("EventFeed reads on from each id of its log, and refuses ids of another log with feed_reset", async () => {
  using sample = await openFeed(20);
  const { feed, entry } = sample;
  const all = await readAll(sample);
  for (const { position, id } of [BEGINNING, ...all]) {
    const read = await feed.linesAfter({ position, id }, entry);
    assertEquals(read.map((line) => line.position), all.slice(position).map((it) => it.position));
    const other = { position, id: id.slice(0, -1) + (id.endsWith("f") ? "e" : "f") };
    assertEquals(await refusal(sample, other), "feed_reset");
  }
  using long = await openFeed();
  const [{ position, id }] = await readAll(long);
  await long.feed.expectPlace({ position, id }, long.entry);
  const elsewhere = { position, id: all[1].id };
  const wrong = () => long.feed.expectPlace(elsewhere, long.entry);
  assertEquals((await assertRejects(wrong, ServiceError)).code, "feed_reset");
  const beyond = { position: 21, id: all.at(-1)!.id.replace("20-", "21-") };
  assertEquals(await refusal(sample, beyond), "feed_reset");
  assertEquals(feedPositionOf(entry.head).id, all.at(-1)!.id);
});

Deno.test("EventFeed continues no place of a log that was replaced, whatever was read of it, and reads the other one", async () => {
  for (const length of [20, SEGMENT_LENGTH]) {
    for (const hasRead of [true, false]) {
      using sample = await openFeed(length);
      const { store, runtime } = sample;
      const last = hasRead ? (await readAll(sample)).at(-1)! : feedPositionOf(sample.head);
      const other = await SqliteStore.open(":memory:");
      await writeLog(other, runtime, sampleLog(length + 10, runtime.now() + 1));
      store.onList = (_, range, options) => other.list(range, options);
      const replaced = { ...sample, entry: await readHead(APPLICATION, other) };
      assertEquals(await refusal(replaced, last), "feed_reset");
      assertEquals((await readAll(replaced)).length, length + 10);
      other.close();
    }
  }
});

Deno.test("EventFeed refuses to read lines that are missing or those of another log, and reads on when its own are back", async () => {
  using sample = await openFeed(20);
  const { store, feed } = sample;
  const all = (await readAll(sample)).length;
  const cold = { ...sample, feed: feedOf(store) };
  const [removed] = await store.list({ start: logKey(5), end: logKey(20) }, { limit: 1 });
  await commit(store, [{ type: "delete", key: removed.key }]);
  const error = await assertRejects(() => readAll(cold), ServiceError);
  assertEquals(error.code, "store_unavailable");
  assertEquals((await readAll({ ...sample, feed })).length, all);
  const { key, value } = removed;
  // Lines of another log, with the same positions.
  const others = sampleLog(5, sample.runtime.now() + 1).slice(1).map(utf8);
  await commit(store, logMutations(2, others));
  assertEquals((await assertRejects(() => readAll(cold), ServiceError)).code, error.code);
  await commit(store, [{ type: "set", key, value: value as Uint8Array }]);
  assertEquals((await readAll(cold)).length, all);
});
