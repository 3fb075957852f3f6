import { assertEquals, assertRejects } from "@std/assert";
import { encodeHead } from "../../src/log/head.ts";
import { HeadLostError } from "../../src/log/head_reader.ts";
import { FOLLOW_INTERVAL_MS, followLog } from "../../src/log/follow_log.ts";
import { LogDamagedError, readLogByRecord } from "../../src/log/read_log.ts";
import { HEAD_KEY, logKey } from "../../src/keyspace.ts";
import { StoreRefusedError } from "../../src/store/store_errors.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { type FaultyStore, faultyStore } from "../support/faulty_store.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

/** Follows the log of a service, and collects the positions. */
function follow(service: TestService, range: { from: number; to?: number }) {
  const stop = new AbortController();
  const positions: number[] = [];
  const reachable: boolean[] = [];
  const done = (async () => {
    const lines = followLog(
      { ...service, reachable: (isThere) => reachable.push(isThere) },
      { ...range, signal: stop.signal },
    );
    for await (const batch of lines) positions.push(...batch.map(({ position }) => position));
  })();
  return { stop, positions, reachable, done };
}

async function addPets(service: TestService, count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    assertEquals((await service.add({ name: "Rex", categoryId: 1 })).status, 201);
  }
}

Deno.test("followLog() yields the present lines, then new ones, and ends at the signal", async () => {
  await using service = await openTestService();
  await addPets(service, 2);
  const { stop, positions, done } = follow(service, { from: 2 });
  await service.runtime.advance(0);
  assertEquals(positions, [2, 3]);
  await addPets(service, 3);
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  assertEquals(positions, [2, 3, 4, 5, 6]);
  await service.runtime.advance(10 * FOLLOW_INTERVAL_MS);
  assertEquals(positions, [2, 3, 4, 5, 6]);
  stop.abort();
  await done;
});

Deno.test("followLog() waits for a first position beyond the log, and ends at the last position", async () => {
  await using service = await openTestService();
  const { positions, done } = follow(service, { from: 3, to: 4 });
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  assertEquals(positions, []);
  await addPets(service, 5);
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  await done;
  assertEquals(positions, [3, 4]);
});

Deno.test("followLog() begins and ends within records of several lines", async () => {
  await using service = await openTestService();
  const { appender, keyId, runtime, store } = service;
  const pet = { name: "Rex", categoryId: 1n };
  // Commands that are queued in one turn share a commit.
  const addTogether = (count: number) =>
    Promise.all(
      Array.from({ length: count }, () => appender.append(addPetCommand(runtime, keyId, pet))),
    );
  await addTogether(20);
  const records = (await Array.fromAsync(readLogByRecord(store, { from: 1, to: 21 }))).flat();
  assertEquals(records.map(({ lines }) => lines.length), [1, 20]);
  for (const [from, to] of [[5, 17], [2, 21], [21, 21], [7, 7]]) {
    const { positions, done } = follow(service, { from, to });
    await done;
    assertEquals(positions, Array.from({ length: to - from + 1 }, (_, index) => from + index));
  }
  const { stop, positions, done } = follow(service, { from: 15, to: 30 });
  await service.runtime.advance(0);
  assertEquals(positions, [15, 16, 17, 18, 19, 20, 21]);
  await addTogether(15);
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  assertEquals(positions, Array.from({ length: 16 }, (_, index) => 15 + index));
  stop.abort();
  await done;
});

Deno.test("followLog() reads the head once per interval", async () => {
  let store!: FaultyStore;
  await using service = await openTestService((inner) => store = faultyStore(inner));
  const { stop, done } = follow(service, { from: 2 });
  await service.runtime.advance(0);
  const before = store.gets.length;
  await service.runtime.advance(50 * FOLLOW_INTERVAL_MS);
  assertEquals(store.gets.length - before, 50);
  stop.abort();
  await done;
});

Deno.test("followLog() continues after the store was away, without a gap, and rejects if it refuses a read", async () => {
  let isAway = false;
  let isRefused = false;
  await using service = await openTestService((store) =>
    faultyStore(store, {
      onGet(apply) {
        if (isRefused) return Promise.reject(new StoreRefusedError("no rights"));
        return isAway ? Promise.reject(new Error("connection refused")) : apply();
      },
    })
  );
  const { positions, reachable, done } = follow(service, { from: 1 });
  const outcome = assertRejects(() => done, StoreRefusedError);
  await service.runtime.advance(0);
  isAway = true;
  await service.runtime.advance(20 * FOLLOW_INTERVAL_MS);
  assertEquals(reachable, [false]);
  isAway = false;
  await addPets(service, 2);
  await service.runtime.advance(20 * FOLLOW_INTERVAL_MS);
  assertEquals(positions, [1, 2, 3]);
  assertEquals(reachable, [false, true]);
  isRefused = true;
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  await outcome;
});

Deno.test("followLog() rejects if a line is missing or the log became shorter", async () => {
  await using gap = await openTestService();
  await addPets(gap, 2);
  await gap.store.commit({ checks: [], mutations: [{ type: "delete", key: logKey(3) }] });
  await assertRejects(
    () => follow(gap, { from: 1 }).done,
    LogDamagedError,
    "Position 3 of the log is missing",
  );

  await using cut = await openTestService();
  await addPets(cut, 2);
  const { head } = await cut.heads.fresh();
  const { done } = follow(cut, { from: 1 });
  const outcome = assertRejects(() => done, HeadLostError, "is an older one, at position 2, and");
  await cut.runtime.advance(0);
  const value = encodeHead({ ...head, position: 2 });
  await cut.store.commit({ checks: [], mutations: [{ type: "set", key: HEAD_KEY, value }] });
  await cut.runtime.advance(FOLLOW_INTERVAL_MS);
  await outcome;
});
