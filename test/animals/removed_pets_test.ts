/** The list of removed animals: its pages, what changes meanwhile, and what instances know of each other. */

import { assertEquals } from "@std/assert";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { removedPetKey } from "../../src/animals/pet_keys.ts";
import { replay } from "../support/tools.ts";
import { readPages } from "../support/read_pages.ts";
import { putRecord } from "../support/set_record.ts";
import { assertError } from "../support/test_each_way.ts";
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

Deno.test("pages of removed pets join, last removed first, although others are removed and restored meanwhile", async () => {
  await using service = await openWithRemoved(9, [4, 9, 2, 7, 1]);
  const shown: number[][] = [];
  for await (const { items, headers } of readPages<RemovedPet>(service, `${LIST}&limit=2`)) {
    shown.push(items.map(({ id }) => id));
    assertEquals(headers.get("x-total-count"), "5");
    if (shown.length > 1) continue;
    await service.remove(5);
    // One that was shown, and one that was not.
    await service.restore(7);
    await service.restore(9);
    await service.remove(3);
  }
  assertEquals(shown, [[1, 7], [2, 4]]);
  assertEquals(await service.listIds("removed=true"), [3, 5, 1, 2, 4]);
  assertEquals(await service.listIds("removed=true&limit=5"), [3, 5, 1, 2, 4]);
});

Deno.test("a restored pet that is removed again is in the list once, as it was the last time", async () => {
  await using service = await openWithRemoved(3, [1, 2]);
  await service.restore(1);
  const changed = await service.change(1, { name: "Max" });
  const etag = changed.headers.get("etag");
  await service.remove(1);
  const [first, ...rest]: RemovedPet[] = await (await service.send(LIST)).json();
  assertEquals([first.id, first.name, first.etag], [1, "Max", etag]);
  assertEquals(rest.map(({ id }) => id), [2]);
});

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

Deno.test("a page of removed pets ends after 128 Ki characters", async () => {
  await using service = await openTestService();
  const name = "🐈".repeat(1_000);
  for (let id = 1; id <= 100; id++) {
    await service.add({ name, categoryId: 7 });
    await service.remove(id);
  }
  const pages = await Array.fromAsync(readPages<RemovedPet>(service, `${LIST}&limit=100`));
  assertEquals(pages.map(({ items }) => items.length), [62, 38]);
  const ids = pages.flatMap(({ items }) => items.map(({ id }) => id));
  assertEquals(ids, Array.from({ length: 100 }, (_, index) => 100 - index));
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
