/** updatePet() decides on the newest state of the pet, and changes it once for each Idempotency-Key. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { decodeEvent, type PetEvent } from "../../events/event.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { SingleFlight } from "../../src/commands/single_flight.ts";
import {
  createPet,
  type CreatePetRequest,
  updatePet,
  type UpdatePetRequest,
} from "../../src/commands/write_pet.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../src/keyspace.ts";
import { ApiKeyReader } from "../../src/projections/api_key_reader.ts";
import { PetReader } from "../../src/projections/pet_reader.ts";
import { createService } from "../../src/service.ts";
import { ServiceError } from "../../src/service_error.ts";
import type { Store } from "../../src/store/store.ts";
import { type FaultyStore, faultyStore } from "../support/faulty_store.ts";
import { readLogLines } from "../support/sound_log.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const REX = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
const SOLD = REX.replace("available", "sold");
const SELL = { petId: 1, patch: { status: "sold" as const } };

/** A service with Rex, and its commands, as on that instance and on another one. */
async function openWithRex(wrap?: (store: Store) => Store) {
  const service = await openTestService(wrap);
  await service.add({ name: "Rex", categoryId: 1, status: "available" });
  const here = commandsOn(service, service);
  const { store, runtime } = service;
  const there = commandsOn(createService({ store, runtime, report: () => {} }), service);
  const events = async () =>
    (await readLogLines(store)).map(decodeEvent).filter(({ type }) => type === "PetUpdated");
  return { service, here, there, events, [Symbol.asyncDispose]: service[Symbol.asyncDispose] };
}

function commandsOn(
  { appender, heads, store, runtime }: ReturnType<typeof createService>,
  { token }: TestService,
) {
  const keys = new ApiKeyReader(store, runtime);
  const pets = new PetReader(store);
  const flights = new SingleFlight<PetEvent>(runtime);
  const deps = { appender, heads, store, runtime, keys, pets, flights };
  return {
    update: (request: Partial<UpdatePetRequest> = {}) =>
      updatePet(deps, { ...SELL, token, ...request }),
    add: (request: Partial<CreatePetRequest>) =>
      createPet(deps, { pet: { name: "Ada", categoryId: 2n }, token, ...request }),
  };
}

const codeOf = async (pending: Promise<unknown>) =>
  (await assertRejects(() => pending, ServiceError)).code;

Deno.test("updatePet() changes a pet, and logs the pet with its former values", async () => {
  await using opened = await openWithRex();
  const { here: { update }, events } = opened;
  assertEquals(await update(), { id: 1, text: SOLD, isDuplicate: false });
  const patch = { status: null, name: "Max" };
  assertEquals((await update({ patch })).text, '{"id":1,"name":"Max","categoryId":1}');
  assertEquals((await events()).map(({ data }) => data), [
    { id: 1, name: "Rex", categoryId: 1n, status: "sold", previous: { status: "available" } },
    { id: 1, name: "Max", categoryId: 1n, previous: { name: "Rex", status: "sold" } },
  ]);
});

Deno.test("updatePet() logs nothing if nothing changes or the request is refused, and createPet() nothing for a read-only key", async () => {
  await using opened = await openWithRex();
  const { service, here: { add, update }, events } = opened;
  const before = await service.heads.fresh();
  assertEquals(await update({ patch: { name: "Rex" } }), { id: 1, text: REX, isDuplicate: false });
  assertEquals(await codeOf(update({ petId: 2 })), "pet_not_found");
  assertEquals(await codeOf(update({ isExpected: () => false })), "precondition_failed");
  const { token } = await issueKey(service, { label: "reader", isReadOnly: true });
  for (const idempotencyKey of [undefined, "order"]) {
    for (const run of [add, update]) {
      assertEquals(await codeOf(run({ token, idempotencyKey })), "read_only_key");
    }
  }
  await revokeKey(service, service.keyId);
  assertEquals(await codeOf(update()), "invalid_credentials");
  assertEquals(await events(), []);
  assertEquals((await service.heads.fresh()).head.lastPetId, before.head.lastPetId);
});

Deno.test("updatePet() lets exactly one of many changes of an expected pet succeed, on two instances", async () => {
  await using opened = await openWithRex();
  const { service, here, there, events } = opened;
  const isExpected = (text: string) => text === REX;
  const outcomes = await service.runtime.settle(Promise.allSettled(
    [here, there, here, there, here].map(({ update }, index) =>
      update({ patch: { name: `Rex ${index}` }, isExpected })
    ),
  ));
  assertEquals(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  const codes = outcomes.flatMap((it) => it.status === "rejected" ? [it.reason.code] : []);
  assertEquals(codes, Array(4).fill("precondition_failed"));
  assertEquals((await events()).length, 1);
});

Deno.test("updatePet() loses no change of many at once, on two instances", async () => {
  await using opened = await openWithRex();
  const { service, here, there, events } = opened;
  const names = Array.from({ length: 20 }, (_, index) => `Rex ${index}`);
  await service.runtime.settle(Promise.all(
    names.map((name, index) => [here, there][index % 2].update({ patch: { name } })),
  ));
  const changes = (await events()).map(({ data }) =>
    data as PetEvent["data"] & { previous: object }
  );
  assertEquals(changes.map(({ name }) => name).sort(), names.sort());
  for (const [index, { previous }] of changes.entries()) {
    assertEquals(previous, { name: index === 0 ? "Rex" : changes[index - 1].name });
  }
});

Deno.test("updatePet() stores many changes of one pet in few commits, and then refuses what they outdate", async () => {
  let store!: FaultyStore;
  await using opened = await openWithRex((inner) => store = faultyStore(inner));
  const { service, here: { update }, events } = opened;
  const commits = store.commits.length;
  const isExpected = (text: string) => text === REX;
  const outcomes = await service.runtime.settle(Promise.allSettled(
    Array.from({ length: 200 }, (_, index) => {
      const request = { patch: { name: `Rex ${index}` }, idempotencyKey: `sale ${index}` };
      return update(index % 2 === 0 ? request : { ...request, isExpected });
    }),
  ));
  const refused = outcomes.flatMap((it) => it.status === "rejected" ? [it.reason.code] : []);
  assertEquals(refused, Array(100).fill("precondition_failed"));
  assertEquals((await events()).length, 100);
  assert(store.commits.length - commits < 5);
  // For each preparation, two lists find an earlier use of the Idempotency-Key.
  assert(store.lists.length < 2 * 200 * 5, `${store.lists.length} lists`);
});

Deno.test("updatePet() makes a change once for each Idempotency-Key, and repeats its outcome", async () => {
  await using opened = await openWithRex();
  const { service, here, there, events } = opened;
  const key = { idempotencyKey: "sale-1" };
  await service.runtime.settle(Promise.all([here, there, here].map(({ update }) => update(key))));
  await here.update({ patch: { name: "Max" } });
  // The first request changed the pet, so the pet no longer matches the condition of the repeated one.
  const repeated = await service.runtime.settle(there.update({ ...key, isExpected: () => false }));
  assertEquals(repeated, { id: 1, text: SOLD, isDuplicate: true });
  assertEquals((await events()).length, 2);
  await service.runtime.advance(IDEMPOTENCY_LIFETIME_MS);
  assertEquals((await here.update(key)).isDuplicate, false);
});

Deno.test("updatePet() and createPet() refuse an Idempotency-Key of another request", async () => {
  await using opened = await openWithRex();
  const { here: { add, update }, service: { add: addRex }, events } = opened;
  await addRex({ name: "Max", categoryId: 1 });
  await update({ idempotencyKey: "sale" });
  const order = { idempotencyKey: "order" };
  const others: UpdatePetRequest["patch"][] = [
    { status: "pending" },
    { status: "sold", name: "Max" },
    { name: "Rex" },
  ];
  const requests = [
    () => add({ idempotencyKey: "sale" }),
    () => update({ idempotencyKey: "sale", petId: 2 }),
    ...others.map((patch) => () => update({ idempotencyKey: "sale", patch })),
    () => add(order).then(() => update({ ...order, patch: { name: "Ada" } })),
  ];
  for (const request of requests) assertEquals(await codeOf(request()), "idempotency_key_reused");
  assertEquals((await events()).length, 1);
});
