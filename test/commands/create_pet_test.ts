/** createPet adds one pet for each Idempotency-Key, however requests are repeated, also while the clock is set. */

import { assertEquals } from "@std/assert";
import { decodeEvent } from "../../events/event.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { IDEMPOTENCY_LIFETIME_MS, projectionKey } from "../../src/keyspace.ts";
import { readHead } from "../../src/log/head.ts";
import { replay } from "../../scripts/replay/replay.ts";
import { hmacSha256Hex } from "../../src/encoding/sha256.ts";
import { assertError, assertRefused } from "../support/test_each_way.ts";
import { type FaultyStore, faultyStore, hold } from "../support/faulty_store.ts";
import { readLogLines } from "../support/sound_log.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1 };
const KEY = { "idempotency-key": "order-4711" };
const REUSED = { status: 409, code: "idempotency_key_reused" };

Deno.test("createPet repeats the first response to a request with the same key and a body that means the same", async () => {
  await using service = await openTestService();
  const first = await service.add({ ...REX, status: "sold" }, KEY);
  assertEquals(first.headers.get("idempotency-replayed"), null);
  const before = await readHead(service.store);
  const texts = [
    '{"name":"Rex","categoryId":1,"status":"sold"}',
    '{ "status": "sold", "categoryId": 1.0, "name": "\\u0052ex" }',
    '{"categoryId":10e-1,"status":"sold","name":"Rex"}',
  ];
  for (const text of texts) {
    for (const headers of [KEY, { "idempotency-key": '"order-4711"' }]) {
      const second = await service.add(text, headers);
      assertEquals(second.headers.get("idempotency-replayed"), "true");
      assertEquals(second.status, 201);
      assertEquals(second.headers.get("location"), first.headers.get("location"));
      assertEquals(await second.text(), '{"id":1,"name":"Rex","categoryId":1,"status":"sold"}');
    }
  }
  assertEquals(await readHead(service.store), before);
  const event = decodeEvent((await readLogLines(service.store))[1]);
  const logged = hmacSha256Hex(service.token, KEY["idempotency-key"]);
  assertEquals(event.idempotencyKey, logged, "nobody can guess it without the API key");
  assertEquals(event.actor, service.keyId);
});

Deno.test("createPet refuses the key with another body, and still repeats the first response", async () => {
  await using service = await openTestService();
  await service.add(REX, KEY);
  const others = [{ ...REX, name: "rex" }, { ...REX, categoryId: 2 }, { ...REX, status: "sold" }];
  for (const other of others) await assertRefused(service, () => service.add(other, KEY), REUSED);
  await assertRepeated(1, service.add(REX, KEY));
});

Deno.test("createPet separates the keys of different API keys", async () => {
  await using service = await openTestService();
  const { token } = await issueKey(service, { label: "another" });
  await service.add(REX, KEY);
  const authorization = `Bearer ${token}`;
  await assertNew(2, service.add({ ...REX, name: "Ada" }, { ...KEY, authorization }));
  await assertRepeated(1, service.add(REX, KEY));
});

Deno.test("createPet does not store the key of a refused request", async () => {
  await using service = await openTestService();
  const refused = [
    await service.add({ name: "" }, KEY),
    await service.add("{", KEY),
    await service.add(REX, { ...KEY, "content-type": "text/plain" }),
    await service.add(REX, { ...KEY, authorization: "Bearer nobody" }),
  ];
  assertEquals(refused.map(({ status }) => status), [400, 400, 415, 401]);
  await assertNew(1, service.add({ ...REX, name: "Ada" }, KEY));
});

Deno.test("createPet honours a key to the millisecond, although the store keeps its record longer", async () => {
  await using service = await openTestService();
  await service.add(REX, KEY);
  await service.runtime.advance(IDEMPOTENCY_LIFETIME_MS - 1);
  await assertRepeated(1, service.add(REX, KEY));
  await service.runtime.advance(1);
  await assertNew(2, service.add({ ...REX, name: "Ada" }, KEY));
  assertEquals((await recordsOf(service, 1)).length, 2, "both records are in the store");
  await assertRepeated(2, service.add({ ...REX, name: "Ada" }, KEY));
  await assertRefused(service, () => service.add(REX, KEY), REUSED);
});

Deno.test("createPet refuses a repeated request whose API key another instance has revoked", async () => {
  await using service = await openTestService();
  const other = otherInstance(service);
  await service.add(REX, KEY);
  await revokeKey(other, service.keyId);
  // This instance has not read the new head, and a repeated request commits nothing that would conflict.
  await assertRefused(service, () => service.add(REX, KEY), {
    status: 401,
    code: "invalid_credentials",
  });
});

Deno.test("createPet adds one pet per key if two instances get the same request at once", async () => {
  await using service = await openTestService();
  const clients = [service, otherInstance(service), service, otherInstance(service)];
  for (let count = 1; count <= 25; count++) {
    const headers = { "idempotency-key": `order-${count}` };
    const responses = await service.runtime.settle(
      Promise.all(clients.map(({ add }) => add(REX, headers))),
    );
    assertEquals(responses.map(({ status }) => status), [201, 201, 201, 201]);
    const isNew = responses.filter(({ headers }) => !headers.has("idempotency-replayed"));
    assertEquals(isNew.length, 1, "one of the four added the pet");
    const bodies = await Promise.all(responses.map((response) => response.text()));
    assertEquals(new Set(bodies).size, 1);
  }
  assertEquals((await readHead(service.store)).head.lastPetId, 25);
});

Deno.test("createPet makes a second request wait for the outcome of the first", async () => {
  let store!: FaultyStore;
  await using service = await openTestService((inner) => store = faultyStore(inner));
  const { fault, reached, release } = hold();
  store.nextCommits.push(fault);
  const first = service.add(REX, KEY);
  await reached;
  let isSettled = false;
  const second = service.add(REX, KEY).finally(() => isSettled = true);
  const third = service.add({ ...REX, name: "Ada" }, KEY);
  await service.runtime.advance(20);
  assertEquals(isSettled, false);
  release();
  await assertNew(1, first);
  await assertRepeated(1, second);
  await assertError(await third, REUSED);
  assertEquals((await readHead(service.store)).head.lastPetId, 1);
});

Deno.test("createPet adds no pet twice on an instance that has not seen a replay", async () => {
  await using service = await openTestService();
  const { add, runtime, store } = service;
  await add({ ...REX, name: "Ada" });
  await runtime.settle(replay(service));
  await assertNew(2, runtime.settle(otherInstance(service).add(REX, KEY)));
  // For this instance, the old generation is still served, and it finds nothing there.
  assertEquals(service.heads.latest?.head.generation, 1);
  assertEquals((await recordsOf(service, 1)).length, 0);
  await assertRepeated(2, runtime.settle(add(REX, KEY)));
  assertEquals((await readHead(store)).head.lastPetId, 2);
});

Deno.test("createPet adds no pet with a time at or after the expiry of its API key", async () => {
  await using service = await openTestService();
  const { runtime } = service;
  const expiresAt = runtime.now() + 1_000;
  const { token } = await issueKey(service, { label: "brief", expiresAt });
  // The clock is ahead while the body arrives, and set back before the key is checked again.
  const body = new ReadableStream({
    pull(controller) {
      runtime.jumpClock(2_000);
      setClockBeforePreparation(service, -2_000);
      controller.enqueue(new TextEncoder().encode(JSON.stringify(REX)));
      controller.close();
    },
  }, { highWaterMark: 0 });
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  await assertRefused(
    service,
    () => service.send("/v1/pets", { method: "POST", headers, body }),
    { status: 401, code: "invalid_credentials" },
  );
});

Deno.test("createPet adds no second pet for a key less than a day after the first", async () => {
  await using service = await openTestService();
  await service.add(REX, KEY);
  await service.runtime.advance(IDEMPOTENCY_LIFETIME_MS - 1);
  // The head is recent, so the request does not read before its command is made.
  await service.heads.fresh();
  setClockBeforePreparation(service, 1);
  await assertRepeated(1, service.add(REX, KEY));
  assertEquals((await service.heads.fresh()).head.lastPetId, 1);
});

async function assertNew(petId: number, pending: Promise<Response>): Promise<void> {
  const response = await pending;
  const text = await response.text();
  assertEquals(response.status, 201, text);
  assertEquals(new URL(response.headers.get("location")!).pathname, `/v1/pets/${petId}`);
  assertEquals(response.headers.get("idempotency-replayed"), null);
}

async function assertRepeated(petId: number, pending: Promise<Response>): Promise<void> {
  const response = await pending;
  const text = await response.text();
  assertEquals(response.status, 201, text);
  assertEquals(new URL(response.headers.get("location")!).pathname, `/v1/pets/${petId}`);
  assertEquals(JSON.parse(text).id, petId);
  assertEquals(response.headers.get("idempotency-replayed"), "true");
}

/** The records of Idempotency-Keys in a generation. */
async function recordsOf({ store }: TestService, generation: number) {
  const prefix = projectionKey(generation, ["event_by_idempotency_key"]);
  return await store.list({ prefix }, { limit: store.limits.listEntries });
}

/** Sets the clock once, after the time of the next command is fixed and before the command is prepared. */
function setClockBeforePreparation({ runtime }: TestService, ms: number): void {
  const { nextTurn } = runtime;
  runtime.nextTurn = () => {
    runtime.nextTurn = nextTurn;
    runtime.jumpClock(ms);
    return nextTurn();
  };
}
