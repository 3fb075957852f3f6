/** The list of removed animals: its pages, what changes meanwhile, and what instances know of each other. */

import { assertEquals } from "@std/assert";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { removedPetKey } from "../../src/animals/pet_keys.ts";
import { replay } from "../support/tools.ts";
import { putRecord } from "../support/set_record.ts";
import { assertError } from "../support/assert_error.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

interface RemovedPet {
  id: number;
  name: string;
  removedAt: string;
  etag: string;
}

/** A service with so many pets, of which these were removed in that order. */
async function openWithRemoved(count: number, removed: number[]): Promise<TestService> {
  const service = await openTestService();
  for (let id = 1; id <= count; id++) await service.add({ name: `Rex ${id}`, categoryId: 7 });
  for (const id of removed) await service.remove(id);
  return service;
}

const LIST = "/v1/pets?removed=true";

Deno.test("an instance lists what another one has removed and restored, before and after its index was filled", async () => {
  await using service = await openWithRemoved(4, [1, 3]);
  const { runtime } = service;
  await runtime.settle(replay(service));
  const other = otherInstance(service);
  const idsOnBoth = async () => {
    const lists = [service, other].map(({ listIds }) => runtime.settle(listIds("removed=true")));
    const [here, there] = await Promise.all(lists);
    assertEquals(there, here);
    return here;
  };
  assertEquals(await idsOnBoth(), [3, 1]);
  await runtime.settle(other.remove(4));
  await runtime.settle(service.restore(3));
  assertEquals(await idsOnBoth(), [4, 1]);
  await runtime.settle(service.remove(2));
  await runtime.settle(other.restore(1));
  assertEquals(await idsOnBoth(), [2, 4]);
});

Deno.test("a removal whose record names another event is projection_damaged, in the list, its history and its restore", async () => {
  await using service = await openWithRemoved(2, [2]);
  await putRecord(service.store, projectionKey(1, removedPetKey(2)), "3");
  const client = otherInstance(service);
  const damaged = { status: 500, code: "projection_damaged" };
  for (const path of [LIST, "/v1/pets/2/events"]) {
    await assertError(await service.runtime.settle(client.send(path)), damaged);
  }
  await assertError(await service.runtime.settle(client.restore(2)), damaged);
  await service.runtime.settle(replay(service));
  assertEquals((await service.runtime.settle(client.restore(2))).status, 200);
});

Deno.test("the lists of removed pets need as many records of removals as the head counts", async () => {
  await using service = await openWithRemoved(3, [2, 3]);
  await putRecord(service.store, projectionKey(1, removedPetKey(2)), undefined);
  const client = otherInstance(service);
  const damaged = {
    status: 500,
    code: "projection_damaged",
    message: /^The number of removed pets is 1, but the head counts 2$/,
  };
  await assertError(await service.runtime.settle(client.send(LIST)), damaged);
});
