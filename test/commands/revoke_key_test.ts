import { assertEquals } from "@std/assert";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { createService } from "../../src/service.ts";
import { FakeRuntime } from "../support/fake_runtime.ts";
import { openTestService } from "../support/test_service.ts";

Deno.test("revokeKey() ends the key at once, also if its clock is ahead of the service's", async () => {
  await using service = await openTestService();
  const { head } = await service.heads.fresh();
  const runtime = new FakeRuntime();
  await runtime.advance(60_000);
  const tool = createService({ store: service.store, runtime, report: () => {} });
  await revokeKey(tool, service.keyId);
  assertEquals((await service.send("/v1/pets")).status, 401);
  assertEquals((await service.add({ name: "Rex", categoryId: 1 })).status, 401);
  assertEquals((await service.heads.fresh()).head.position, head.position + 1);
});

Deno.test("revokeKey() adds no event for a revoked key", async () => {
  await using service = await openTestService();
  await revokeKey(service, service.keyId);
  const before = await service.heads.fresh();
  assertEquals((await revokeKey(service, service.keyId))?.isRevoked, true);
  assertEquals(await service.heads.fresh(), before);
});
