/** createPet() while the clock is set during a request, and with a read-only key. */

import { assertEquals, assertRejects } from "@std/assert";
import type { PetEvent } from "../../events/event.ts";
import { createPet } from "../../src/commands/create_pet.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { SingleFlight } from "../../src/commands/single_flight.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../../src/keyspace.ts";
import { ApiKeyReader } from "../../src/projections/api_key_reader.ts";
import { PetReader } from "../../src/projections/pet_reader.ts";
import { ServiceError } from "../../src/service_error.ts";
import { assertRefused } from "../support/test_each_way.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1 };

/** Sets the clock once, after the time of the next command is fixed and before the command is prepared. */
function setClockBeforePreparation({ runtime }: TestService, ms: number): void {
  const { nextTurn } = runtime;
  runtime.nextTurn = () => {
    runtime.nextTurn = nextTurn;
    runtime.jumpClock(ms);
    return nextTurn();
  };
}

Deno.test("createPet() adds no pet with a time at or after the expiry of its API key", async () => {
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

Deno.test("createPet() adds no second pet for a key less than a day after the first", async () => {
  await using service = await openTestService();
  const key = { "idempotency-key": "order-4711" };
  await service.add(REX, key);
  await service.runtime.advance(IDEMPOTENCY_LIFETIME_MS - 1);
  // The head is recent, so the request does not read before its command is made.
  await service.heads.fresh();
  setClockBeforePreparation(service, 1);
  const second = await service.add(REX, key);
  assertEquals(second.headers.get("idempotency-replayed"), "true");
  assertEquals((await second.json()).id, 1);
  assertEquals((await service.heads.fresh()).head.lastPetId, 1);
});

Deno.test("createPet() adds nothing for a read-only key, with or without an Idempotency-Key", async () => {
  await using service = await openTestService();
  const { store, runtime } = service;
  const deps = {
    ...service,
    flights: new SingleFlight<PetEvent>(runtime),
    keys: new ApiKeyReader(store, runtime),
    pets: new PetReader(store),
  };
  const { token } = await issueKey(service, { label: "reader", isReadOnly: true });
  const before = await service.heads.fresh();
  const pet = { name: "Rex", categoryId: 1n };
  for (const idempotencyKey of [undefined, "order-4711"]) {
    const error = await assertRejects(
      () => createPet(deps, { pet, token, idempotencyKey }),
      ServiceError,
    );
    assertEquals(error.code, "read_only_key");
  }
  assertEquals(await service.heads.fresh(), before);
});
