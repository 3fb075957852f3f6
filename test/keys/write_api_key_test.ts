import { APPLICATION } from "../../src/application.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { eventOf } from "../../src/eventstore_less/log/lines.ts";
import { readLog } from "../../src/eventstore_less/log/read_log.ts";
import {
  issueApiKey,
  revokeApiKey,
  rotateApiKey,
  UnrotatableApiKeyError,
} from "../../src/keys/write_api_key.ts";
import { createService } from "../../src/service.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { openTestService, type TestService } from "../support/test_service.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

async function statusWith(service: TestService, token: string): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  return (await service.send("/v1/pets", { headers })).status;
}

async function eventsOf({ store, heads }: TestService) {
  const to = (await heads.fresh()).head.position;
  const batches = await Array.fromAsync(readLog(store, { from: 1, to }));
  return batches.flat().map(({ line }) => eventOf(APPLICATION, line)!);
}

Deno.test("rotateApiKey() appends two events in one commit, and keeps the label", async () => {
  await using service = await openTestService();
  const before = await service.heads.fresh();
  const { successor, retiresAt } = await rotateApiKey(service, service.keyId, {
    overlapMs: HOUR_MS,
  });
  assertEquals((await service.heads.fresh()).head.position, before.head.position + 2);
  const [old, issued, revoked] = await eventsOf(service);
  if (old.type !== "ApiKeyIssued" || issued.type !== "ApiKeyIssued") throw new Error(old.type);
  assertEquals([issued.data.label, issued.data.keyId], [old.data.label, successor.id]);
  assertEquals(issued.time, revoked.time);
  assertEquals(revoked.type === "ApiKeyRevoked" && revoked.data, {
    keyId: service.keyId,
    tokenHash: old.data.tokenHash,
    effectiveAt: new Date(retiresAt).toISOString(),
  });
});

Deno.test("rotateApiKey() gives the successor the lifetime of the old key, unless another is requested", async () => {
  await using service = await openTestService();
  const now = service.runtime.now();
  const key = await issueApiKey(service, { label: "limited", expiresAt: now + 10 * DAY_MS });
  await service.runtime.advance(9 * DAY_MS);
  const { successor, retiresAt } = await rotateApiKey(service, key.id, { overlapMs: 2 * DAY_MS });
  assertEquals(successor.expiresAt, now + 19 * DAY_MS);
  assertEquals(retiresAt, now + 10 * DAY_MS, "the old key does not outlive its own expiry");
  const terms = { overlapMs: 1, lifetimeMs: HOUR_MS, label: "short" };
  const { successor: third } = await rotateApiKey(service, successor.id, terms);
  assertEquals(third.expiresAt, now + 9 * DAY_MS + HOUR_MS);
});

Deno.test("rotateApiKey() refuses a key that is unknown, expired, revoked or rotated, and writes nothing", async () => {
  await using service = await openTestService();
  const terms = { overlapMs: HOUR_MS };
  const expiresAt = service.runtime.now() + 1_000;
  const expired = await issueApiKey(service, { label: "expired", expiresAt });
  const revoked = await issueApiKey(service, { label: "revoked" });
  await revokeApiKey(service, revoked.id);
  await rotateApiKey(service, service.keyId, terms);
  await service.runtime.advance(1_000);
  const before = await service.heads.fresh();
  const cases = [
    ["unknown", "No key has the id unknown"],
    [expired.id, "is expired"],
    [revoked.id, "is revoked"],
    [service.keyId, "was already rotated"],
  ];
  for (const [id, words] of cases) {
    await assertRejects(() => rotateApiKey(service, id, terms), UnrotatableApiKeyError, words);
  }
  assertEquals(await service.heads.fresh(), before);
});

Deno.test("issueApiKey() and rotateApiKey() show a key before they issue it, and issue no key that cannot be shown", async () => {
  await using service = await openTestService();
  const before = await service.heads.fresh();
  const failing = () => Promise.reject(new Error("no reader"));
  const terms = { overlapMs: HOUR_MS };
  const attempts = [
    () => issueApiKey(service, { label: "unseen" }, failing),
    () => rotateApiKey(service, service.keyId, terms, failing),
  ];
  for (const attempt of attempts) await assertRejects(attempt, Error, "no reader");
  assertEquals(await service.heads.fresh(), before);

  const shown: string[] = [];
  const show = async ({ token }: { token: string }) => {
    assertEquals(await statusWith(service, token), 401);
    shown.push(token);
  };
  const { token } = await issueApiKey(service, { label: "seen" }, show);
  const { successor } = await rotateApiKey(service, service.keyId, terms, show);
  await assertRejects(
    () => rotateApiKey(service, service.keyId, terms, show),
    UnrotatableApiKeyError,
  );
  assertEquals(shown, [token, successor.token]);
  for (const it of shown) assertEquals(await statusWith(service, it), 200);
});

Deno.test("revokeApiKey() ends the key at once, also if its clock is ahead of the service's, and with one event", async () => {
  await using service = await openTestService();
  const { head } = await service.heads.fresh();
  const runtime = new FakeRuntime();
  await runtime.advance(60_000);
  const tool = createService({ store: service.store, runtime, report: () => {} });
  assertEquals((await revokeApiKey(tool, service.keyId))?.isRevoked, undefined);
  assertEquals((await revokeApiKey(tool, service.keyId))?.isRevoked, true);
  assertEquals((await service.send("/v1/pets")).status, 401);
  assertEquals((await service.add({ name: "Rex", categoryId: 1 })).status, 401);
  assertEquals((await service.heads.fresh()).head.position, head.position + 1);
});

Deno.test("issueApiKey() and rotateApiKey() refuse an end that the log cannot hold, and write nothing", async () => {
  await using service = await openTestService();
  const { id } = await issueApiKey(service, { label: "first" });
  const { position } = (await readHead(APPLICATION, service.store)).head;
  const expiresAt = Date.parse("9999-12-31T23:59:59.999Z") + 1;
  const overlapMs = expiresAt - service.runtime.now();
  const attempts = [
    () => issueApiKey(service, { label: "second", expiresAt }),
    () => rotateApiKey(service, id, { overlapMs }),
  ];
  for (const attempt of attempts) {
    await assertRejects(attempt, ServiceError, "The key would end in the year 10000");
  }
  assertEquals((await readHead(APPLICATION, service.store)).head.position, position);
  await issueApiKey(service, { label: "second", expiresAt: expiresAt - 1 });
});
