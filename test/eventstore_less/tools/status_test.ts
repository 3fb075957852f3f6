import { assertEquals, assertRejects } from "@std/assert";
import { openEventStore, OpenStoreError } from "eventstore-less";
import type { Store } from "eventstore-less/store";
import { openMemoryStore } from "eventstore-less/testing";
import { audit, backup, exportLog, replay, restore, status } from "eventstore-less/tools";
import { decodeJson, encodeJson } from "../../../src/eventstore_less/encoding/json.ts";
import { HEAD_KEY, lastRunKey } from "../../../src/eventstore_less/keyspace.ts";
import { checkedContent } from "../../../src/eventstore_less/store/checksum.ts";
import { StoreReadOnlyError } from "../../../src/eventstore_less/store/store_errors.ts";
import { FakeRuntime } from "../../../src/eventstore_less/testing/fake_runtime.ts";
import { put } from "../../support/store_contract.ts";
import { putRecord } from "../../support/set_record.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { until } from "../../support/until.ts";
import { application, book, type Bookings, MINUTE_MS, openBookings, START_MS } from "./bookings.ts";

const test = testNeeding(permissions("read", "write"));

/** A booking that the log of the tests lacks. */
const MISSING_BOOKING = "3";

async function withFolder(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await run(folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function timeOf(minute: number): string {
  return new Date(START_MS + minute * MINUTE_MS).toISOString();
}

async function lastRuns({ store }: { store: Store }) {
  return (await store.list({ prefix: ["last_run"] }, { limit: 9 })).map(({ key }) => key);
}

test("status() has the last audit and the last backup, and what the backup lacks", () =>
  withFolder(async (folder) => {
    const location = `${folder}/bookings.sqlite3`;
    const file = `${folder}/log.jsonl`;
    for (const place of [":memory:", location]) {
      await using store = await openBookings(place, { count: 40 });
      assertEquals(await status(store), {
        position: 40,
        newestEventAt: timeOf(1),
        summary: { bookings: 40 },
        audit: undefined,
      });
      await audit(store);
      await backup(store, file);
      await book(store, 2);
      const endedAt = timeOf(2);
      assertEquals(await status(store), {
        position: 42,
        newestEventAt: timeOf(2),
        summary: { bookings: 42 },
        audit: { endedAt, position: 40, sound: true },
        backup: { endedAt, position: 40, file, lacks: 2, lacksSince: timeOf(2) },
      });
      await Deno.remove(file);
    }
    const opened = await Deno.stat(location);
    const { bytes, standbyNames } = await status({ application, location });
    assertEquals([bytes, standbyNames], [opened.size, undefined]);
  }));

test("status() has an audit and a backup at the location of a store, beside an instance", () =>
  withFolder(async (folder) => {
    const location = `${folder}/bookings.sqlite3`;
    const file = `${folder}/log.jsonl`;
    await using store = await openBookings(location, { count: 40 });
    const before = await store.store.get(HEAD_KEY);
    await audit({ application, location });
    await backup({ application, location }, file);
    // Otherwise a command of the instance would be planned again.
    assertEquals(await store.store.get(HEAD_KEY), before);
    await book(store);
    const found = await status({ application, location });
    assertEquals([found.audit?.sound, found.backup?.lacks], [true, 1]);
    assertEquals((await audit({ application, location })).faults, []);
  }));

test("status() has the fault of an audit, also one that only a checkpoint shows", () =>
  withFolder(async () => {
    await using store = await openBookings(":memory:", { count: 40 });
    await audit(store, { checkpoint: { position: 41, hash: "0".repeat(64) } });
    assertEquals((await status(store)).audit?.sound, false);
    await audit(store);
    assertEquals((await status(store)).audit?.sound, true);
    await putRecord(store.store, ["projection", 1, "booking", MISSING_BOOKING]);
    await audit(store);
    assertEquals((await status(store)).audit?.sound, false);
  }));

test("The records of an audit and a backup are in no export and no generation, and in no restored store", () =>
  withFolder(async (folder) => {
    await using store = await openBookings(`${folder}/bookings.sqlite3`, { count: 40 });
    const exported = async (of: Bookings) => (await Array.fromAsync(exportLog(of))).map(String);
    const lines = await exported(store);
    await audit(store);
    await backup(store, `${folder}/log.jsonl`);
    assertEquals(await exported(store), lines);
    await replay(store, { graceMs: 0 });
    assertEquals(await lastRuns(store), [lastRunKey("audit"), lastRunKey("backup")]);
    assertEquals((await audit(store)).faults, []);

    const restored = `${folder}/restored.sqlite3`;
    await using empty = await openEventStore(application, restored);
    await audit(empty);
    assertEquals(await lastRuns(empty), []);
    await empty.close();
    await restore(`${folder}/log.jsonl`, application, restored);
    const found = await status({ application, location: restored });
    assertEquals([found.position, found.audit, found.backup], [40, undefined, undefined]);
  }));

test("A store of the format before keeps its records, which an older version knows", () =>
  withFolder(async () => {
    await using store = await openBookings(":memory:", { count: 40 });
    const head = await store.store.get(HEAD_KEY);
    const fields = decodeJson(checkedContent(head!)!);
    const { position, lastHash, types, counts, generation } = fields;
    const earlier = { format: 6, position, lastHash, types, counts, generation };
    await putRecord(store.store, HEAD_KEY, encodeJson(earlier));
    assertEquals((await audit(store)).faults, []);
    assertEquals(await lastRuns(store), []);
  }));

test("audit() and backup() of a store that cannot be written leave no record, and are no error", () =>
  withFolder(async (folder) => {
    await using store = await openBookings(":memory:", { count: 40 });
    const { runtime } = store;
    for (const error of [new StoreReadOnlyError(), new Error("A defect")]) {
      const readOnly: Store = Object.assign(Object.create(store.store), {
        commit: () => Promise.reject(error),
      });
      const log = { application, store: readOnly, runtime };
      assertEquals((await audit(log)).sound, true);
      assertEquals((await backup(log, `${folder}/log.jsonl`)).position, 40);
      assertEquals(await lastRuns(store), []);
    }
  }));

test("status() takes a damaged record for a missing one, and an audit needs nothing of it", () =>
  withFolder(async () => {
    await using store = await openBookings(":memory:", { count: 40 });
    await putRecord(store.store, lastRunKey("audit"), '{"endedAt":"yesterday"}');
    await put(store.store, lastRunKey("backup"), "damaged");
    const { audit: audited, backup: backedUp } = await status(store);
    assertEquals([audited, backedUp], [undefined, undefined]);
    assertEquals((await audit(store)).faults, []);
    assertEquals((await status(store)).audit?.sound, true);
  }));

test("status() refuses a store whose head is damaged, and says what to run", () =>
  withFolder(async (folder) => {
    const location = `${folder}/bookings.sqlite3`;
    {
      await using store = await openBookings(location, { count: 40 });
      await putRecord(store.store, HEAD_KEY, "{}");
    }
    await assertRejects(
      () => status({ application, location }),
      OpenStoreError,
      "its head record is damaged",
    );
  }));

test("backup() that follows records each position within ten seconds, and its end", () =>
  withFolder(async (folder) => {
    const runtime = new FakeRuntime();
    const memory = await openMemoryStore();
    await using store = await openEventStore(application, memory, { runtime });
    await book(store, 3);
    const stop = new AbortController();
    let position = 0;
    const following = backup(store, `${folder}/log.jsonl`, {
      follow: true,
      signal: stop.signal,
      onProgress(progress) {
        if (progress.phase === "sync") position = progress.position;
      },
    });
    await until(() => position === 3);
    assertEquals((await status(store)).backup, undefined);
    await runtime.advance(10_000);
    const recorded = async () => (await status(store)).backup?.position;
    await until(async () => await recorded() === 3);
    stop.abort();
    await runtime.advance(1_000);
    await following;
    assertEquals(await recorded(), 3);
  }));
