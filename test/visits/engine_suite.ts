/**
 * The engine on the application of this folder. `visits_test.ts` runs this file on each kind of store, with an import
 * map that binds the engine to `visits.ts`. The variable STORES names an empty store for each use: `:memory:`, files or
 * URLs of databases, separated by spaces.
 */

import type { Head } from "eventstore-less/definitions";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { replay } from "../../scripts/replay/replay.ts";
import { restore, verifyExport } from "../../scripts/restore/restore.ts";
import { audit, auditLines } from "../../scripts/verify/audit.ts";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import {
  BackgroundWork,
  EventCursor,
  EventFeed,
  feedPositionOf,
  jsonOf,
} from "eventstore-less/feed";
import { createInstance, type Instance } from "eventstore-less/instance";
import { EMPTY_HEAD, encodeHead, GUARD_KEYS, HEAD_KEY, readHead } from "eventstore-less/head";
import { logKey, readLog } from "eventstore-less/log";
import { projectionKey } from "eventstore-less/projections";
import { acceptAppends, acceptLog, openStore } from "eventstore-less/store/open";
import { ServiceError } from "eventstore-less/errors";
import { type Mutation, type Store, withChecksum } from "eventstore-less/store";
import { parseDatabaseUrl, type StoreLocation } from "eventstore-less/store/location";
import { DAY_LIMIT, VisitDesk } from "./visit_desk.ts";
import { commit } from "../support/store_contract.ts";

const stores = Deno.env.get("STORES")!.split(" ");

function locationOf(name: string): StoreLocation {
  if (name === ":memory:") return { kind: "memory" };
  if (!name.startsWith("postgres:")) return { kind: "file", path: name, isDefault: false };
  const settings = { ...parseDatabaseUrl(name), passfile: undefined, strictReads: false };
  return { kind: "postgres", settings };
}

/** Opens the next empty store. */
async function openNext(): Promise<Store> {
  const location = locationOf(stores.shift()!);
  const options = {
    create: true,
    accept: acceptLog,
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
  };
  return await openStore(location, options);
}

interface Parts {
  store: Store;
  instance: Instance;
  desk: VisitDesk;
}

function test(name: string, use: (parts: Parts) => Promise<void>): void {
  Deno.test(`visits: ${name}`, async () => {
    const store = await openNext();
    const instance = createInstance({ store, runtime: systemRuntime });
    try {
      await use({ store, instance, desk: new VisitDesk(instance) });
    } finally {
      await instance.appender.drain();
      store.close();
    }
  });
}

async function linesOf(store: Store): Promise<Uint8Array[]> {
  const { head } = await readHead(store);
  const batches = await Array.fromAsync(readLog(store, { from: 1, to: head.position }));
  return batches.flat().map(({ line }) => line);
}

async function membersOf(store: Store): Promise<Record<string, unknown>[]> {
  const lines = await linesOf(store);
  return lines.map((line) => JSON.parse(new TextDecoder().decode(line)));
}

async function auditOf({ store }: Parts) {
  return await audit({ store, runtime: systemRuntime });
}

test("append() stores events in order, and a rule refuses by the counts of the head", async (parts) => {
  const { desk, store, instance } = parts;
  for (const who of ["Ann", "Bob"]) await desk.book("2026-12-01", who);
  await assertRejects(() => desk.book("2026-12-01", "Cid"), ServiceError, "There are 2 visits");
  await assertRejects(() => desk.move(7, "2026-12-02"), ServiceError, "not booked");
  await desk.move(1, "2026-12-02");
  await desk.book("2026-12-01", "Cid");
  await desk.cancel(2);
  await assertRejects(() => desk.cancel(2), ServiceError, "not booked");
  const members = await membersOf(store);
  const shown = members.map(({ type, subject, predecessor }) => [type, subject, predecessor]);
  assertEquals(shown, [
    ["VisitBooked", "visits/1", undefined],
    ["VisitBooked", "visits/2", undefined],
    ["VisitMoved", "visits/1", "0000000000000001"],
    ["VisitBooked", "visits/3", undefined],
    ["VisitCancelled", "visits/2", "0000000000000002"],
  ]);
  assertEquals(members[0].source, "urn:vet-visits");
  assertEquals(members[0].dataschema, "urn:vet-visits:visit-booked:1");
  const { head } = await instance.heads.fresh();
  assertEquals(head.counts, { visits: { "2026-12-01": 1, "2026-12-02": 1 } });
  const report = await auditOf(parts);
  assertEquals([report.sound, report.summary], [true, { visits: 2 }]);
});

test("append() on two instances gives each visit an id of its own, and no day too many", async (parts) => {
  const { store, desk } = parts;
  const other = createInstance({ store, runtime: systemRuntime });
  const desks = [desk, new VisitDesk(other)];
  const days = Array.from({ length: 10 }, (_, day) => `2026-12-${day + 10}`);
  const tries = days.flatMap((day) => [1, 2, 3, 4].map((time) => ({ day, time })));
  const booked = await Promise.allSettled(
    tries.map(({ day, time }) => desks[time % 2].book(day, `visitor ${time}`)),
  );
  await other.appender.drain();
  const landed = booked.filter(({ status }) => status === "fulfilled");
  assertEquals(landed.length, days.length * DAY_LIMIT);
  const ids = (await membersOf(store)).map(({ data }) => (data as { id: number }).id);
  assertEquals(ids, Array.from({ length: landed.length }, (_, index) => index + 1));
  assert((await auditOf(parts)).sound);
});

test("an Idempotency-Key has one event, also if it is used at once on two instances", async (parts) => {
  const { store, desk } = parts;
  const key = "c".repeat(64);
  const first = await desk.book("2026-12-01", "Ann", key);
  const again = await desk.book("2026-12-01", "Ann", key);
  assertEquals(again.position, first.position);
  const other = createInstance({ store, runtime: systemRuntime });
  const atOnce = "d".repeat(64);
  const events = await Promise.all(
    [desk, new VisitDesk(other)].map((it) => it.book("2026-12-02", "Bob", atOnce)),
  );
  await other.appender.drain();
  assertEquals(events[0].position, events[1].position);
  assertEquals((await linesOf(store)).length, 2);
});

test("commands of one subject that share a commit are decided one after the other", async (parts) => {
  const { desk, store } = parts;
  await desk.book("2026-12-01", "Ann");
  await Promise.all([desk.move(1, "2026-12-02"), desk.move(1, "2026-12-03"), desk.cancel(1)]);
  const members = await membersOf(store);
  assertEquals(members.map(({ predecessor }) => Number(predecessor ?? 0)), [0, 1, 2, 3]);
  assert((await auditOf(parts)).sound);
});

test("a replay rebuilds damaged records while visits are booked", async (parts) => {
  const { desk, store } = parts;
  for (let day = 10; day < 30; day++) await desk.book(`2026-12-${day}`, "Ann");
  const lost: Mutation = { type: "delete", key: projectionKey(1, ["visit", 3]) };
  await commit(store, [lost]);
  assertMatch((await auditOf(parts)).faults[0].message, /visit.*is missing/);
  const booking = (async () => {
    for (let day = 10; day < 30; day++) await desk.book(`2027-01-${day}`, "Bob");
  })();
  const { generation } = await replay({ store, runtime: systemRuntime }, { graceMs: 0 });
  await booking;
  assertEquals(generation, 2);
  const report = await auditOf(parts);
  assertEquals([report.sound, report.position], [true, 40]);
});

test("an audit finds each damage to a record, a line and the head", async (parts) => {
  const { desk, store } = parts;
  for (const who of ["Ann", "Bob"]) await desk.book("2026-12-01", who);
  await desk.move(1, "2026-12-02");
  await desk.cancel(2);
  const { head } = await readHead(store);
  const keyOf = (...parts: (string | number)[]) => projectionKey(1, parts);
  const set = (key: (string | number)[], content: string): Mutation => {
    return { type: "set", key, value: withChecksum(key, new TextEncoder().encode(content)) };
  };
  const changed = (change: Partial<Head>): Mutation => {
    return { type: "set", key: HEAD_KEY, value: encodeHead({ ...head, ...change }) };
  };
  const visit = '3 {"id":1,"day":"2026-12-02","who":"Ann","from":"2026-12-01"}';
  const line = (await store.get(logKey(2)))!.value as Uint8Array;
  const damages: [kind: string, mutation: Mutation][] = [
    ["record_missing", { type: "delete", key: keyOf("visit", 1) }],
    ["record_missing", { type: "delete", key: keyOf("visit_by_day", "2026-12-02", 1) }],
    ["record_missing", { type: "delete", key: keyOf("cancelled_visit", 2) }],
    ["record_altered", set(keyOf("visit", 1), visit.replace("Ann", "Eve"))],
    ["record_altered", set(keyOf("cancelled_visit", 2), "3 cancelled")],
    ["record_extra", set(keyOf("visit_by_day", "2026-12-01", 1), visit)],
    ["record_extra", set(keyOf("visit", 2), "4 cancelled")],
    ["record_extra", set(keyOf("cancelled_visit", 1), visit)],
    ["record_extra", set(keyOf("visit", 9), visit)],
    ["record_extra", set(keyOf("visit_by_day", 1, 1), visit)],
    ["foreign_record", set(["visit", 1], visit)],
    ["line", { type: "set", key: logKey(2), value: line.slice(0, -2) }],
    ["head", changed({ counts: { visits: { "2026-12-02": 2 } } })],
  ];
  for (const [kind, mutation] of damages) {
    const before = await store.get(mutation.key);
    await commit(store, [mutation]);
    const report = await auditOf(parts);
    assertEquals(Object.keys(report.counts), [kind], `${kind} ${mutation.key}`);
    const undo: Mutation = before === null
      ? { type: "delete", key: mutation.key }
      : { ...before, type: "set", value: before.value as Uint8Array };
    await commit(store, [undo]);
  }
  assert((await auditOf(parts)).sound);
});

test("an audit of an export finds an impossible history and a wrong predecessor", async ({ desk, store }) => {
  await desk.book("2026-12-01", "Ann");
  await desk.move(1, "2026-12-02");
  await desk.move(1, "2026-12-03");
  const [booked, moved, again] = (await linesOf(store)).map((line) =>
    new TextDecoder().decode(line)
  );
  const faultsOf = async (...lines: string[]) => {
    const bytes = lines.map((line) => new TextEncoder().encode(line));
    const { faults } = await auditLines((async function* () {
      yield bytes;
    })());
    return faults.map(({ message }) => message).join();
  };
  assertEquals(await faultsOf(booked, moved), "");
  const ofNone = moved.replace('"id":1', '"id":2').replace("visits/1", "visits/2");
  assertMatch(
    await faultsOf(booked, ofNone),
    /visits\/2 had no event before; visit 2 is not booked/,
  );
  const unlinked = again.replace('"predecessor":"0000000000000002",', "");
  assertMatch(await faultsOf(booked, moved, unlinked), /Line 3: it names no predecessor/);
});

test("the feed shows booked and moved visits by their days, and continues from each id", async ({ desk, instance, store }) => {
  await desk.book("2026-12-01", "Ann");
  await desk.book("2026-12-02", "Bob");
  await desk.move(1, "2026-12-03");
  await desk.cancel(2);
  const feed = new EventFeed(store, new BackgroundWork(systemRuntime));
  const entry = await instance.heads.fresh();
  const limits = { events: 10, bytes: 10_000 };
  const subjectsFrom = async (place: ReturnType<typeof feedPositionOf>, day?: string) => {
    const values = day === undefined ? [] : [["day", day] as const];
    const cursor = new EventCursor(feed, place, { values }, jsonOf);
    const { texts } = await cursor.read(entry, limits);
    return texts.map((text) => JSON.parse(new TextDecoder().decode(text)));
  };
  const start = feedPositionOf(EMPTY_HEAD);
  const all = await subjectsFrom(start);
  assertEquals(all.map(({ type }) => type), ["VisitBooked", "VisitBooked", "VisitMoved"]);
  const ofDay = await subjectsFrom(start, "2026-12-01");
  assertEquals(ofDay.map(({ type }) => type), ["VisitBooked", "VisitMoved"]);
  const rest = await subjectsFrom({ position: 1, id: all[0].id });
  assertEquals(rest.map(({ subject }) => subject), ["visits/2", "visits/1"]);
  await assertRejects(
    () => subjectsFrom({ position: 1, id: all[1].id.replace("2", "1") }),
    ServiceError,
    "is not in this log",
  );
});

test("a restored store has the same lines, and continues", async (parts) => {
  const { desk, store } = parts;
  for (let day = 10; day < 20; day++) {
    await desk.book(`2026-12-${day}`, "Ann", String(day).repeat(32));
  }
  for (let id = 1; id < 5; id++) await desk.move(id, "2026-12-30").catch(() => {});
  await desk.cancel(5);
  const lines = await linesOf(store);
  const source = async function* () {
    yield joinLines(lines);
  };
  const restored = await openNext();
  try {
    await restore({ store: restored, runtime: systemRuntime }, source, await verifyExport(source));
    assertEquals(await linesOf(restored), lines);
    await acceptAppends(restored);
    const instance = createInstance({ store: restored, runtime: systemRuntime });
    const next = await new VisitDesk(instance).book("2026-12-10", "Bob");
    assertEquals(next.data.id, 11);
    await instance.appender.drain();
    assert((await audit({ store: restored, runtime: systemRuntime })).sound);
  } finally {
    restored.close();
  }
});
