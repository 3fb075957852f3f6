/** The index of categories: how an instance fills it and keeps it up to date, and what it does if a record is damaged. */

import { replay } from "../support/tools.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { StoreAwayError } from "../../src/eventstore_less/store/store_errors.ts";
import { petKey } from "../../src/animals/pet_keys.ts";
import { PetIndexReader, RETRY_MS } from "../../src/animals/pet_index_reader.ts";
import { createService } from "../../src/service.ts";
import { hold } from "../support/faulty_store.ts";
import { putRecord } from "../support/set_record.ts";
import { assertError } from "../support/assert_error.ts";
import { clientOfHandler, openTestService, type TestService } from "../support/test_service.ts";
import { commit } from "../support/store_contract.ts";

const PETS = [7, 8, 7, -9_223_372_036_854_776, 7].map((categoryId, index) => ({
  name: `Rex ${index + 1}`,
  categoryId,
  status: index === 2 ? "sold" : "available",
}));

/** A service with pets 1 to 5, of which 1, 3 and 5 have category 7. */
async function openWithPets(): Promise<TestService> {
  const service = await openTestService({ isDurable: true });
  for (const pet of PETS) await service.add(pet);
  return service;
}

/** Another instance on the store, which has not filled its index, with its client and its log. */
function startInstance({ store, runtime, token }: TestService) {
  const reports: [string, Record<string, unknown> | undefined][] = [];
  const report = (_level: string, event: string, details?: Record<string, unknown>) => {
    reports.push([event, details]);
  };
  const instance = createService({ store, runtime, report, isDurable: true });
  const client = clientOfHandler(token, instance.handler);
  // The fill takes turns of the background work, which rests now and then.
  const listIds = (query?: string) => runtime.settle(client.listIds(query));
  const send = (path: string) => runtime.settle(client.send(path));
  const probe = () => runtime.settle(client.sendBare("/readyz"));
  return { ...instance, ...client, listIds, probe, reports, send };
}

const CATEGORY = "categoryId=7";

Deno.test("an instance is not ready before its index is filled, says how long that took, and answers lists meanwhile", async () => {
  await using service = await openWithPets();
  const { fault, reached, release } = hold();
  const { faults, runtime } = service;
  faults.onList = (apply, range) => range.prefix?.[2] === "pet" ? fault(apply) : apply();
  const instance = startInstance(service);
  const probe = instance.sendBare("/readyz");
  await reached;
  await runtime.advance(500);
  await assertError(await probe, { status: 503, code: "not_ready" });
  assertEquals((await instance.listIds()).length, 5);
  const waiting = instance.listIds(CATEGORY);
  // A change while the records are read.
  await service.change(5, { categoryId: 8 });
  release();
  faults.onList = (apply) => apply();
  assertEquals(await waiting, [3, 1]);
  assertEquals((await instance.probe()).status, 200);
  const [[, filled]] = instance.reports.filter(([event]) => event === "index_filled");
  const { pets, ms } = filled as { pets: number; ms: number };
  assertEquals(pets, 5);
  assert(ms >= 500 && ms < 1_000, `${ms} ms`);
  assertEquals(instance.index.fillSeconds, ms / 1_000);
});

Deno.test("a request waits for two seconds until the index is filled", async () => {
  await using service = await openWithPets();
  const { heads, runtime, store } = service;
  const turn = () => new Promise<void>(() => {});
  const index = new PetIndexReader({ heads, store, runtime, report: () => {}, turn });
  const { head } = await heads.fresh();
  const asOf = index.asOf(head).catch((error) => error.code);
  await runtime.advance(1_999);
  assertEquals(await Promise.race([asOf, "waits"]), "waits");
  await runtime.advance(1);
  assertEquals(await asOf, "store_unavailable");
});

Deno.test("an index keeps up with the commits of its own instance and of others", async () => {
  await using service = await openWithPets();
  const other = startInstance(service);
  assertEquals(await other.listIds(CATEGORY), [5, 3, 1]);
  const writes = [
    () => other.change(2, { categoryId: 7 }),
    () => service.change(5, { categoryId: 9 }),
    () => service.remove(1),
    () => other.add({ name: "Zoë", categoryId: 7 }),
  ];
  for (const write of writes) await service.runtime.settle(write());
  assertEquals(await other.listIds(CATEGORY), [6, 3, 2]);
  assertEquals(await service.runtime.settle(service.listIds(CATEGORY)), [6, 3, 2]);
  assertEquals(await other.listIds(`${CATEGORY}&status=sold`), [3]);
  assertEquals(await other.listIds(`${CATEGORY}&order=asc&limit=2`), [2, 3]);
  assertEquals(await other.listIds(`${CATEGORY}&order=asc&cursor=2`), [3, 6]);
  assertEquals(await other.listIds("categoryId=-9223372036854776"), [4]);
});

Deno.test("an instance whose records are damaged is ready, refuses categories, and tries again after a replay or half a minute", async () => {
  for (const repair of ["replay", "wait"]) {
    await using service = await openWithPets();
    const { runtime } = service;
    const key = projectionKey(1, petKey("sold", 3));
    const [sound] = await service.store.list({ prefix: key.slice(0, -1) }, { limit: 1 });
    for (const content of [undefined, "3x"]) {
      await putRecord(service.store, key, content);
      const instance = startInstance(service);
      assertEquals((await instance.probe()).status, 200);
      const refused = { status: 500, code: "projection_damaged" };
      await assertError(await instance.send(`/v1/pets?${CATEGORY}`), refused);
      await assertError(await instance.send("/v1/pets?categoryId=8"), refused);
      assertEquals(await instance.listIds("ids=1,5"), [5, 1]);
      const logged = instance.reports.map(([event]) => event);
      assertEquals(logged.filter((event) => event === "index_damaged").length, 1);
      if (repair === "replay") await runtime.settle(replay(service));
      else {
        await commit(service.store, [{ type: "set", key, value: sound.value as Uint8Array }]);
        await assertError(await instance.send(`/v1/pets?${CATEGORY}`), refused);
        await runtime.advance(RETRY_MS);
      }
      assertEquals(await instance.listIds(CATEGORY), [5, 3, 1]);
      if (repair === "replay") break;
    }
  }
});

Deno.test("a store that is away while the index is filled is tried again by the next probe or request", async () => {
  await using service = await openWithPets();
  const { faults } = service;
  const away = new StoreAwayError("away");
  faults.onList = (apply, range) => range.prefix?.[2] === "pet" ? Promise.reject(away) : apply();
  const { index, heads } = startInstance(service);
  const { head } = await heads.fresh();
  await assertRejects(() => index.isReady(head), StoreAwayError);
  await assertRejects(() => index.asOf(head), StoreAwayError);
  faults.onList = (apply) => apply();
  const { runtime } = service;
  // After the circuit breaker has found that the store is back.
  await runtime.advance(2_000);
  assert(await runtime.settle(index.isReady(head)));
  assertEquals((await index.asOf(head)).count(), 5);
});

Deno.test("an index that a replay has outdated while it was filled is filled from the new generation", async () => {
  await using service = await openWithPets();
  const { fault, reached, release } = hold();
  const { faults, runtime } = service;
  faults.onList = (apply, range) => {
    const isOld = range.prefix?.[1] === 1 && range.prefix[2] === "pet";
    return isOld ? fault(apply) : apply();
  };
  const instance = startInstance(service);
  const early = instance.listIds(CATEGORY).catch(() => []);
  await reached;
  faults.onList = (apply) => apply();
  await runtime.settle(replay(service));
  await service.add({ name: "Zoë", categoryId: 7 });
  release();
  await early;
  assertEquals(await instance.listIds(CATEGORY), [6, 5, 3, 1]);
});
