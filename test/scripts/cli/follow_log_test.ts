import { APPLICATION } from "../../../src/application.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { encodeHead } from "../../../src/eventstore_less/log/head.ts";
import { HeadLostError } from "../../../src/eventstore_less/log/head_reader.ts";
import { FOLLOW_INTERVAL_MS, followLog } from "../../../src/eventstore_less/tools/follow_log.ts";
import { LogDamagedError } from "../../../src/eventstore_less/log/read_log.ts";
import { HEAD_KEY, LOG_PREFIX, logKey } from "../../../src/eventstore_less/keyspace.ts";
import { StoreRefusedError } from "../../../src/eventstore_less/store/store_errors.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { commit, put } from "../../support/store_contract.ts";
import { openTestService, otherInstance, type TestService } from "../../support/test_service.ts";

/** Follows the log of a service, and collects the positions. */
function follow(service: TestService, range: { from: number; to?: number }) {
  const abort = new AbortController();
  const positions: number[] = [];
  const reachable: boolean[] = [];
  const done = (async () => {
    const lines = followLog(
      { ...service, reachable: (isThere) => reachable.push(isThere) },
      { ...range, signal: abort.signal },
    );
    for await (const batch of lines) positions.push(...batch.map(({ position }) => position));
  })();
  return { abort, positions, reachable, done };
}

/** Adds pets. Commands that are queued in one turn share a commit. */
async function addPets({ appender, runtime, keyId }: TestService, count: number): Promise<void> {
  const pet = { name: "Rex", categoryId: 1n };
  await Promise.all(
    Array.from({ length: count }, () => appender.append(addPetCommand(runtime, keyId, pet))),
  );
}

Deno.test("followLog() yields the present lines of any range, within records of several lines", async () => {
  await using service = await openTestService();
  await addPets(service, 20);
  const records = await service.store.list({ prefix: LOG_PREFIX }, { limit: 100 });
  assertEquals(records.map(({ key }) => key[1]), [1, 21]);
  const all = Array.from({ length: 22 }, (_, index) => index);
  for (const [from, to] of [[5, 17], [2, 21], [21, 21], [7, 7]]) {
    const { positions, done } = follow(service, { from, to });
    await done;
    assertEquals(positions, all.slice(from, to + 1));
  }
});

Deno.test("followLog() yields new lines at the next look, one per interval, and ends at the signal or the last position", async () => {
  await using service = await openTestService();
  const { runtime, faults } = service;
  await addPets(service, 2);
  const endless = follow(service, { from: 2 });
  const ahead = follow(service, { from: 5, to: 6 });
  await runtime.advance(0);
  assertEquals([endless.positions, ahead.positions], [[2, 3], []]);
  // Two instances write at the same time.
  const { appender } = otherInstance(service);
  const both = [addPets(service, 2), addPets({ ...service, appender }, 2)];
  await runtime.settle(Promise.all(both));
  await runtime.advance(FOLLOW_INTERVAL_MS);
  await ahead.done;
  assertEquals([endless.positions, ahead.positions], [[2, 3, 4, 5, 6, 7], [5, 6]]);
  const before = faults.gets.length;
  await runtime.advance(50 * FOLLOW_INTERVAL_MS);
  assertEquals(faults.gets.length - before, 50);
  endless.abort.abort();
  await runtime.settle(endless.done);
  assertEquals(endless.positions, [2, 3, 4, 5, 6, 7]);
});

Deno.test("followLog() continues after the store was away, without a gap, and rejects if it refuses a read", async () => {
  let failure: Error | undefined;
  await using service = await openTestService();
  service.faults.onGet = (apply) => failure ? Promise.reject(failure) : apply();
  const { positions, reachable, done } = follow(service, { from: 1 });
  const outcome = assertRejects(() => done, StoreRefusedError);
  await service.runtime.advance(0);
  failure = new Error("connection refused");
  await service.runtime.advance(20 * FOLLOW_INTERVAL_MS);
  assertEquals(reachable, [false]);
  failure = undefined;
  await addPets(service, 2);
  await service.runtime.advance(20 * FOLLOW_INTERVAL_MS);
  assertEquals([positions, reachable], [[1, 2, 3], [false, true]]);
  failure = new StoreRefusedError("no rights");
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  await outcome;
});

Deno.test("followLog() rejects if a line is missing or the log became shorter", async () => {
  await using service = await openTestService();
  await addPets(service, 2);
  const { head } = await service.heads.fresh();
  const { done } = follow(service, { from: 1 });
  const outcome = assertRejects(() => done, HeadLostError, "is an older one, version ");
  await service.runtime.advance(0);
  await put(service.store, HEAD_KEY, encodeHead(APPLICATION, { ...head, position: 2 }));
  await service.runtime.advance(FOLLOW_INTERVAL_MS);
  await outcome;

  await put(service.store, HEAD_KEY, encodeHead(APPLICATION, head));
  await commit(service.store, [{ type: "delete", key: logKey(3) }]);
  const gap = follow(service, { from: 1 });
  await assertRejects(() => gap.done, LogDamagedError, "Position 2 of the log is missing");
});
