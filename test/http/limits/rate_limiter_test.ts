import { assert, assertEquals } from "@std/assert";
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

Deno.test("a key beyond RATE_LIMIT gets 429, and is admitted after Retry-After", async () => {
  await using service = await openTestService(undefined, { rateLimit: 2 });
  const { token } = await issueKey(service, { label: "another" });
  const another = { headers: { authorization: `Bearer ${token}` } };
  await service.add(REX);
  for (const path of ["/v1/pets", "/v1/pets/1", "/v1/none"]) await service.send(path);

  const refusals = await refuseAll(service, [
    () => service.send("/v1/pets"),
    () => service.send("/v1/pets/1"),
    () => service.send("/v1/none"),
    () => service.send("/v1/pets", { method: "DELETE" }),
    () => service.add(REX),
    () => service.add("{"),
  ]);
  for (const refused of refusals) {
    assertEquals(refused.headers.get("retry-after"), "1");
    assertEquals(refused.headers.get("cache-control"), "no-store");
    assertEquals(limitOf(refused), ['"default";q=4;w=2', '"default";r=0;t=1']);
  }
  const admitted = await service.send("/v1/pets", another);
  assertEquals(admitted.status, 200);
  assertEquals(limitOf(admitted), ['"default";q=4;w=2', '"default";r=3;t=2']);

  await service.runtime.advance(1_000);
  const [added] = await Promise.all([service.add(REX), service.send("/v1/pets")]);
  assertEquals(added.status, 201);
  assertEquals(service.reports, [], "a limited key is not reported as a failure");
});

Deno.test("a 429 is delayed by a second, so that a client gains nothing by repeating", async () => {
  await using service = await openTestService(undefined, { rateLimit: 1 });
  await service.send("/v1/pets");
  await service.send("/v1/pets");
  const statuses: number[] = [];
  const sent = [1, 2].map(async () => statuses.push((await service.send("/v1/pets")).status));
  await service.runtime.advance(HOLD_BACK_MS - 1);
  assertEquals(statuses, []);
  await service.runtime.advance(1);
  assertEquals(statuses, [429, 429]);
  await Promise.all(sent);
});

Deno.test("RateLimiter delays up to 2,000 responses at a time, and sends further ones at once", async () => {
  const runtime = new FakeRuntime();
  const limiter = new RateLimiter(1, runtime);
  let sent = 0;
  const holdBack = async (responses: number) => {
    for (let response = 0; response < responses; response++) limiter.holdBack().then(() => sent++);
    await runtime.advance(0);
  };
  await holdBack(1);
  await runtime.advance(HOLD_BACK_MS);
  assertEquals(sent, 1);
  await holdBack(HELD_BACK_LIMIT + 3);
  assertEquals(sent, 1 + 3);
});

Deno.test("every response to a counted request has the remaining quota, also a 304", async () => {
  await using service = await openTestService(undefined, { rateLimit: 10 });
  await service.add(REX);
  const remaining: string[] = [];
  const etag = (await service.send("/v1/pets")).headers.get("etag")!;
  const requests: [string, RequestInit?][] = [
    ["/v1/pets"],
    ["/v1/pets"],
    ["/v1/pets", { headers: { "if-none-match": etag } }],
    ["/v1/pets/1"],
    ["/v1/pets/1"],
    ["/v1/pets/2"],
    ["/v1/none"],
    ["/v1/pets?limit=0"],
    ["/v1/pets", { method: "PUT" }],
    ["/v1/pets", { method: "POST", body: "{}" }],
  ];
  const statuses: number[] = [];
  for (const [path, init] of requests) {
    const response = await service.send(path, init);
    statuses.push(response.status);
    const [policy, limit] = limitOf(response);
    assertEquals(policy, '"default";q=20;w=2');
    remaining.push(limit!);
  }
  assertEquals(statuses, [200, 200, 304, 200, 200, 404, 404, 400, 405, 415]);
  assertEquals(
    remaining,
    [17, 16, 15, 14, 13, 12, 11].map((r) => `"default";r=${r};t=2`)
      .concat([10, 9, 8].map((r) => `"default";r=${r};t=1`)),
  );
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

Deno.test("an addition beyond RATE_LIMIT is refused before its body is read", async () => {
  await using service = await openTestService(undefined, { rateLimit: 1 });
  await service.send("/v1/pets");
  await service.send("/v1/pets");
  let isRead = false;
  const body = new ReadableStream({
    pull: (controller) => {
      isRead = true;
      controller.close();
    },
  }, { highWaterMark: 0 });
  const request = new Request("http://localhost/v1/pets", {
    method: "POST",
    headers: { authorization: `Bearer ${service.token}`, "content-type": "application/json" },
    body,
  });
  await refuseAll(service, [() => service.handler(request)]);
  assertEquals(isRead, false);
});

Deno.test("without RATE_LIMIT, requests are not limited and responses have no RateLimit headers", async () => {
  await using service = await openTestService();
  await service.add(REX);
  for (let times = 0; times < 100; times++) {
    const response = await service.send("/v1/pets/1");
    assertEquals(response.status, 200);
    assertEquals(limitOf(response), [null, null]);
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
