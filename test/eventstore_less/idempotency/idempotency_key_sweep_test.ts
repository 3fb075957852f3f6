import { audit, replay } from "../../support/tools.ts";
import { noteAdviceOf } from "../../../scripts/audit/advice.ts";
import { APPLICATION } from "../../../src/application.ts";
import { assert, assertEquals } from "@std/assert";
import {
  CLOCK_DOUBT_MS,
  CLOCK_JUMP_MS,
  FIRST_SWEEP_MS,
  SWEEP_INTERVAL_MS,
} from "../../../src/eventstore_less/idempotency/idempotency_key_sweep.ts";
import {
  IDEMPOTENCY_LIFETIME_MS,
  kindPrefix,
  RETENTION_MARGIN_MS,
} from "../../../src/eventstore_less/keyspace.ts";
import { readHead } from "../../../src/eventstore_less/log/head.ts";
import { shutDown } from "../../../src/life_cycle/shut_down.ts";
import { createService } from "../../../src/service.ts";
import { KvWriter } from "../../../src/eventstore_less/store/deno_kv/kv_writer.ts";
import { SqliteStore } from "../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { SqliteReader } from "../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { NotAppliedError } from "../../../src/eventstore_less/store/store_errors.ts";
import { scan } from "../../../src/eventstore_less/store/scan.ts";
import type { Store } from "../../../src/eventstore_less/store/store.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { putRecord } from "../../support/set_record.ts";
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { TempStore } from "../../support/temp_store.ts";
import { permissions, testNeeding } from "../../support/test_needing.ts";
import { clientOfHandler, openTestService, otherInstance } from "../../support/test_service.ts";
import { commit } from "../../support/store_contract.ts";

const HOUR_MS = 60 * 60 * 1_000;
/** Time from an event to the moment from which its record may be removed. */
const KEPT_MS = IDEMPOTENCY_LIFETIME_MS + RETENTION_MARGIN_MS;

/** A service that sweeps. `add` adds a pet with an Idempotency-Key. */
async function open() {
  const service = await openTestService();
  service.sweep.start();
  const add = async (key: string) => {
    const response = await service.runtime.settle(
      service.add({ name: "Rex", categoryId: 1 }, { "idempotency-key": key }),
    );
    assertEquals(response.status, 201);
    return response.headers.get("idempotency-replayed") ?? "added";
  };
  const events = () => service.reports.map(([, event]) => event);
  const close = () => service[Symbol.asyncDispose]();
  return { service, runtime: service.runtime, add, events, [Symbol.asyncDispose]: close };
}

/** The positions of the events whose records of Idempotency-Keys are stored. */
async function recordsIn(store: Store): Promise<number[]> {
  const { generation } = (await readHead(APPLICATION, store)).head;
  const batches = await Array.fromAsync(
    scan(store, { prefix: kindPrefix(generation, "event_by_idempotency_key") }),
  );
  return batches.flat().map(({ key }) => key.at(-1) as number).sort((a, b) => a - b);
}

Deno.test("IdempotencyKeySweep removes records that are over by the clock and by the last event, and no others", async () => {
  await using test = await open();
  const { service, runtime, add } = test;
  await add("first");
  await runtime.advance(10 * HOUR_MS);
  await add("second");
  await runtime.advance(KEPT_MS + SWEEP_INTERVAL_MS);
  assertEquals(await recordsIn(service.store), [2, 3], "nothing was written for a day");
  await add("third");
  await runtime.advance(SWEEP_INTERVAL_MS);
  assertEquals(await recordsIn(service.store), [4]);
  assertEquals(await audit(service).then(({ faults }) => faults), []);
  assertEquals(await add("third"), "true");
  assertEquals(test.events(), []);
});

Deno.test("IdempotencyKeySweep removes nothing for an hour after a jump of the clock, also if events are written by it", async () => {
  for (const sign of [1, -1]) {
    await using test = await open();
    const { service, runtime, add, events } = test;
    await runtime.advance(SWEEP_INTERVAL_MS + FIRST_SWEEP_MS - 2 * 60_000);
    await add("first");
    if (sign === 1) runtime.jumpClock(KEPT_MS);
    else {
      runtime.jumpClock(-1.5 * CLOCK_JUMP_MS);
      await runtime.advance(KEPT_MS - CLOCK_DOUBT_MS);
    }
    await add("second");
    await runtime.advance(CLOCK_DOUBT_MS - 60_000);
    assertEquals(await recordsIn(service.store), [2, 3]);
    assertEquals(events(), ["clock_jumped"]);
    const { seconds } = service.reports[0][2]!;
    assertEquals(seconds, sign === 1 ? KEPT_MS / 1_000 : -1.5 * CLOCK_JUMP_MS / 1_000);
    if (sign === -1) continue;
    runtime.jumpClock(-KEPT_MS);
    await runtime.advance(CLOCK_DOUBT_MS + SWEEP_INTERVAL_MS);
    assertEquals(await recordsIn(service.store), [2, 3], "the clock is right again");
    assertEquals(events(), ["clock_jumped", "clock_jumped"]);
    assertEquals(await add("first"), "true");
  }
});

Deno.test("IdempotencyKeySweep does not take a slow drift of the clock for a jump", async () => {
  await using test = await open();
  for (let minute = 0; minute < 120; minute++) {
    test.runtime.jumpClock(CLOCK_JUMP_MS);
    await test.runtime.advance(60_000);
  }
  assertEquals(test.events(), []);
});

/** Adds pets, the last of them when the records of the others are over. Resolves just before a sweep. */
async function untilOver({ runtime, add, service }: Awaited<ReturnType<typeof open>>, count = 2) {
  await service.sweep.stop();
  for (let index = 1; index <= count; index++) await add(`order-${index}`);
  await runtime.advance(KEPT_MS);
  await add("last");
  const other = otherInstance(service);
  const reports: string[] = [];
  const { sweep } = createService({
    store: service.faults,
    runtime,
    report: (_level, event) => reports.push(event),
  });
  sweep.start();
  await runtime.advance(FIRST_SWEEP_MS - 1);
  return { sweep, reports, other };
}

Deno.test("IdempotencyKeySweep leaves a damaged record for the audit", async () => {
  await using test = await open();
  const { runtime, service } = test;
  const { sweep } = await untilOver(test);
  const { faults: { inner } } = service;
  const [[first]] = await Array.fromAsync(
    scan(inner, { prefix: kindPrefix(1, "event_by_idempotency_key") }),
  );
  const bytes = (first.value as Uint8Array).slice();
  bytes[9] ^= 1;
  await commit(inner, [{ type: "set", key: first.key, value: bytes }]);
  await runtime.advance(1_000);
  const damaged = first.key.at(-1) as number;
  assertEquals(await recordsIn(service.store), [damaged, 4]);
  assertEquals((await audit(service)).counts, { record_altered: 1 });
  await putRecord(inner, first.key, "{}");
  await runtime.advance(SWEEP_INTERVAL_MS);
  assertEquals(await recordsIn(service.store), [damaged, 4]);
  await sweep.stop();
});

Deno.test("IdempotencyKeySweep logs each failure, and tries again until it succeeds", async () => {
  await using test = await open();
  const { runtime, service } = test;
  const { sweep, reports } = await untilOver(test);
  service.faults.onCommit = () => Promise.reject(new NotAppliedError("The store is locked"));
  await runtime.advance(4 * FIRST_SWEEP_MS);
  const failures = Array(4).fill("idempotency_sweep_failed");
  assertEquals(reports, failures);
  service.faults.onCommit = (apply) => apply();
  await runtime.advance(FIRST_SWEEP_MS);
  assertEquals(await recordsIn(service.store), [4]);
  assertEquals(reports, failures);
  await sweep.stop();
});

Deno.test("IdempotencyKeySweep on several instances, and during a replay, leaves a sound store", async () => {
  await using test = await open();
  const { runtime, service } = test;
  const { sweep, other } = await untilOver(test, 150);
  other.sweep.start();
  await runtime.advance(60_000);
  // The sweep holds its first commit until the replay has removed the generation.
  const { faults } = service;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  faults.nextCommits.push((apply) => released.then(apply));
  await runtime.advance(FIRST_SWEEP_MS);
  const { generation } = await runtime.settle(replay({ store: faults.inner, runtime }));
  assertEquals(generation, 2);
  release();
  await runtime.advance(SWEEP_INTERVAL_MS + 2 * FIRST_SWEEP_MS);
  assertEquals(await recordsIn(faults.inner), [152]);
  const { faults: found } = await audit({ store: faults.inner, runtime });
  assertEquals(found, []);
  await sweep.stop();
  await other.sweep.stop();
});

Deno.test("IdempotencyKeySweep ends before the store is closed, and leaves no timer", async () => {
  const test = await open();
  const { runtime, service } = test;
  const { sweep } = await untilOver(test, 150);
  const steps: string[] = [];
  const { faults } = service;
  const { close } = faults;
  faults.close = () => (steps.push("close"), close());
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const before = faults.commits.length;
  faults.nextCommits.push((apply) => released.then(apply).finally(() => steps.push("commit")));
  await runtime.advance(1_000);
  const over = shutDown({ ...service, sweep }, { shutdown: () => Promise.resolve() });
  await runtime.advance(100);
  assertEquals(steps, []);
  release();
  await runtime.settle(over);
  assertEquals([steps, faults.commits.length - before], [["commit", "close"], 1]);
  // The limits of the shutdown end by themselves.
  await runtime.advance(10_000);
  assertEquals(runtime.waits(), []);
});

Deno.test("A lost record of an Idempotency-Key lets a retry add again, which an audit notes, and a replay writes the record", async () => {
  await using service = await openTestService();
  const add = async () => {
    const header = { "idempotency-key": "order" };
    return (await service.add({ name: "Rex", categoryId: 1 }, header)).headers;
  };
  await add();
  const [[{ key }]] = await Array.fromAsync(
    scan(service.store, { prefix: kindPrefix(1, "event_by_idempotency_key") }),
  );
  await putRecord(service.store, key, undefined);
  // Events of one command have the same time.
  await service.runtime.advance(1);
  assertEquals((await add()).get("idempotency-replayed"), null);
  const note = {
    kind: "idempotency_key_repeated",
    positions: [2, 3],
    message: "Event 3 has the Idempotency-Key of event 2, less than a day after it",
  };
  const readExpiringRecords = () => [];
  const first = await audit({ ...service, readExpiringRecords });
  assertEquals([first.counts, first.notes], [{ record_missing: 1 }, [note]]);
  assert(noteAdviceOf(first).idempotency_key_repeated!.includes("undo one of the two"));
  await service.runtime.settle(replay(service));
  const second = await audit({ ...service, readExpiringRecords });
  assertEquals([second.sound, second.notes], [true, [note]]);
  assertEquals((await add()).get("idempotency-replayed"), "true");
});

Deno.test("A clock that jumps while a request waits for its commit loses no Idempotency-Key", async () => {
  await using test = await open();
  const { runtime, add } = test;
  const { nextTurn } = runtime;
  runtime.nextTurn = () => {
    Object.assign(runtime, { nextTurn }).jumpClock(KEPT_MS + HOUR_MS);
    return nextTurn();
  };
  await add("first");
  runtime.jumpClock(-KEPT_MS - HOUR_MS);
  assertEquals(await add("first"), "true");
});

testNeeding(permissions("read", "write"))(
  "A clock that is 26 hours ahead for 5 seconds loses no Idempotency-Key of a file, because no record there expires",
  async () => {
    await using temp = await TempStore.make();
    const runtime = new FakeRuntime();
    const openFile = async () => {
      const kv = await Deno.openKv(temp.kvPath);
      return new SqliteStore(new SqliteReader(temp.kvPath), new KvWriter(kv));
    };
    const store = runtime.awaited(await openFile());
    const service = createService({ store, runtime, report: () => {} });
    const { token } = await issueApiKey(service, { label: "test" });
    const { add } = clientOfHandler(token, service.handler);
    const send = () => add({ name: "Rex", categoryId: 1 }, { "idempotency-key": "order" });
    service.sweep.start();
    const { status } = await send();
    assertEquals(status, 201);
    await runtime.advance(FIRST_SWEEP_MS - 60_000);
    runtime.jumpClock(26 * HOUR_MS);
    // A command reads with the wrong clock, too. Deno KV uses that of the system, so no record may expire at all.
    (await openFile()).close();
    await runtime.advance(5_000);
    await runtime.advance(FIRST_SWEEP_MS);
    runtime.jumpClock(-26 * HOUR_MS);
    await runtime.advance(SWEEP_INTERVAL_MS);
    using reader = new SqliteReader(temp.kvPath);
    assertEquals([...reader.expiringRecords()], []);
    assertEquals((await send()).headers.get("idempotency-replayed"), "true");
    assertEquals((await readHead(APPLICATION, store)).head.position, 2);
    assertEquals((await audit({ store, runtime })).faults, []);
    await shutDown(service, { shutdown: () => Promise.resolve() });
  },
);
