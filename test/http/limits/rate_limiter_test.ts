import { assert, assertEquals } from "@std/assert";
import { assertSpyCalls, spy } from "@std/testing/mock";
import { issueKey } from "../../../src/commands/issue_key.ts";
import { revokeKey } from "../../../src/commands/revoke_key.ts";
import {
  HELD_BACK_LIMIT,
  HOLD_BACK_MS,
  RATE_LIMIT_MAX,
  RateLimiter,
} from "../../../src/http/limits/rate_limiter.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { openTestService, type TestService } from "../../support/test_service.ts";
import { assertRefused } from "../../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };
const LIMITED = { status: 429, code: "rate_limited" };

/** The number of requests of a key that are admitted before one is refused. */
function burstOf(limiter: RateLimiter, keyId = "key"): number {
  for (let admitted = 0;; admitted++) {
    if (!limiter.count(keyId).isAdmitted) return admitted;
  }
}

for (const rate of [1, 3, 100, 1_000]) {
  Deno.test(`RateLimiter admits ${2 * rate} requests at once, then ${rate} a second`, async () => {
    const runtime = new FakeRuntime();
    const limiter = new RateLimiter(rate, runtime);
    assertEquals(burstOf(limiter), 2 * rate);
    for (let seconds = 0; seconds < 5; seconds++) {
      await runtime.advance(1_000);
      assertEquals(burstOf(limiter), rate);
    }
    await runtime.advance(60_000);
    assertEquals(burstOf(limiter), 2 * rate);
  });
}

Deno.test("RateLimiter admits a refused key one second later, also if requests were refused meanwhile", async () => {
  for (const rate of [1, 7, RATE_LIMIT_MAX]) {
    const runtime = new FakeRuntime();
    const limiter = new RateLimiter(rate, runtime);
    burstOf(limiter);
    for (let refused = 0; refused < 10; refused++) {
      await runtime.advance(rate === 1 ? 99 : 0);
      assertEquals(limiter.count("key").isAdmitted, false);
    }
    await runtime.advance(1_000);
    assert(limiter.count("key").isAdmitted, `at ${rate} a second`);
  }
});

Deno.test("RateLimiter counts each key separately, by the monotonic clock", async () => {
  const runtime = new FakeRuntime();
  const limiter = new RateLimiter(5, runtime);
  assertEquals(burstOf(limiter, "one"), 10);
  runtime.jumpClock(3_600_000);
  assertEquals(burstOf(limiter, "one"), 0);
  assertEquals(burstOf(limiter, "other"), 10);
  await runtime.advance(200);
  assertEquals(burstOf(limiter, "one"), 1);
});

Deno.test("RateLimiter drops the least recently used keys beyond 10,000", async () => {
  const runtime = new FakeRuntime();
  const limiter = new RateLimiter(1, runtime);
  const count = (prefix: string, keys: number) => {
    for (let key = 0; key < keys; key++) limiter.count(`${prefix} ${key}`);
  };
  count("idle", 10_000);
  await runtime.advance(2_000);
  burstOf(limiter, "busy");
  count("new", 9_999);
  assertEquals(burstOf(limiter, "busy"), 0, "the idle keys were forgotten first");
  count("newer", 10_000);
  assertEquals(burstOf(limiter, "busy"), 2, "no more than 10,000 buckets are kept");
});

Deno.test("RateLimiter delays up to 2,000 responses at a time, and sends further ones at once", async () => {
  const runtime = new FakeRuntime();
  const limiter = new RateLimiter(1, runtime);
  const onSent = spy();
  const holdBack = async (responses: number) => {
    for (let response = 0; response < responses; response++) limiter.holdBack().then(onSent);
    await runtime.advance(0);
  };
  await holdBack(1);
  await runtime.advance(HOLD_BACK_MS - 1);
  assertSpyCalls(onSent, 0);
  await runtime.advance(1);
  assertSpyCalls(onSent, 1);
  await holdBack(HELD_BACK_LIMIT + 3);
  assertSpyCalls(onSent, 1 + 3);
});

Deno.test("a key beyond RATE_LIMIT gets a delayed 429 without a read of its body, and is admitted after Retry-After", async () => {
  await using service = await openTestService(undefined, { rateLimit: 2 });
  const { token } = await issueKey(service, { label: "another" });
  await service.add(REX);
  for (const path of ["/v1/pets", "/v1/pets/1", "/v1/none"]) await service.send(path);

  const onPull = spy();
  const body = new ReadableStream({ pull: onPull }, { highWaterMark: 0 });
  const headers = { "content-type": "application/json" };
  const refusals = await refuseAll(service, [
    () => service.send("/v1/pets"),
    () => service.send("/v1/pets/1"),
    () => service.send("/v1/none"),
    () => service.send("/v1/pets", { method: "DELETE" }),
    () => service.add(REX),
    () => service.add("{"),
    () => service.send("/v1/pets", { method: "POST", headers, body }),
  ]);
  assertSpyCalls(onPull, 0);
  for (const refused of refusals) {
    assertEquals(refused.headers.get("retry-after"), "1");
    assertEquals(refused.headers.get("cache-control"), "no-store");
    assertEquals(limitOf(refused), ['"default";q=4;w=2', '"default";r=0;t=1']);
  }
  const another = { headers: { authorization: `Bearer ${token}` } };
  const admitted = await service.send("/v1/pets", another);
  assertEquals(admitted.status, 200);
  assertEquals(limitOf(admitted), ['"default";q=4;w=2', '"default";r=3;t=2']);

  // refuseAll() has advanced the time by a second.
  const [added] = await Promise.all([service.add(REX), service.send("/v1/pets")]);
  assertEquals(added.status, 201);
  assertEquals(service.reports, [], "a limited key is not reported as a failure");
});

Deno.test("every response to a counted request has the remaining quota, also a 304", async () => {
  await using service = await openTestService(undefined, { rateLimit: 10 });
  await service.add(REX);
  const etag = (await service.send("/v1/pets")).headers.get("etag")!;
  const requests: [status: number, path: string, init?: RequestInit][] = [
    [200, "/v1/pets"],
    [200, "/v1/pets"],
    [304, "/v1/pets", { headers: { "if-none-match": etag } }],
    [200, "/v1/pets/1"],
    [200, "/v1/pets/1"],
    [404, "/v1/pets/2"],
    [404, "/v1/none"],
    [400, "/v1/pets?limit=0"],
    [405, "/v1/pets", { method: "PUT" }],
    [415, "/v1/pets", { method: "POST", body: "{}" }],
  ];
  for (const [index, [status, path, init]] of requests.entries()) {
    const response = await service.send(path, init);
    assertEquals(response.status, status);
    const remaining = 17 - index;
    const seconds = remaining > 10 ? 2 : 1;
    const limit = `"default";r=${remaining};t=${seconds}`;
    assertEquals(limitOf(response), ['"default";q=20;w=2', limit]);
  }
});

Deno.test("a request without a valid key or without the need of one is not counted", async () => {
  await using service = await openTestService(undefined, { rateLimit: 1 });
  const { id, token } = await issueKey(service, { label: "short" });
  const headers = { authorization: `Bearer ${token}` };
  const addOnce = () => service.add(REX, headers);
  await addOnce();
  await addOnce();
  await refuseAll(service, [addOnce]);
  await addOnce();
  await revokeKey(service, id);
  const requests: [number, () => Promise<Response>][] = [
    [401, addOnce],
    [401, () => service.send("/v1/pets", { headers })],
    [401, () => service.sendBare("/v1/pets")],
    [401, () => service.add(REX, { authorization: "Bearer nonsense" })],
    [200, () => service.sendBare("/healthz")],
    [200, () => service.sendBare("/openapi.json")],
  ];
  for (const [status, request] of requests) {
    for (let times = 0; times < 4; times++) {
      // Time does not advance, so that a delayed response would never come.
      const response = await request();
      assertEquals(response.status, status);
      if (status === 200) assertEquals(limitOf(response), [null, null]);
    }
  }
  assertEquals((await service.send("/v1/pets")).status, 200, "another key has its whole quota");
});

Deno.test("without RATE_LIMIT, requests are not limited and responses have no RateLimit headers", async () => {
  await using service = await openTestService();
  for (let times = 0; times < 100; times++) {
    const response = await service.send("/v1/pets");
    assertEquals([response.status, ...limitOf(response)], [200, null, null]);
  }
});

/** Sends requests together and asserts that each gets a delayed 429. */
async function refuseAll(
  service: TestService,
  requests: (() => Promise<Response>)[],
): Promise<Response[]> {
  const pending = requests.map((request) => assertRefused(service, request, LIMITED));
  await service.runtime.advance(HOLD_BACK_MS);
  return await Promise.all(pending);
}

function limitOf({ headers }: Response): (string | null)[] {
  return [headers.get("ratelimit-policy"), headers.get("ratelimit")];
}
