import { assertEquals } from "@std/assert";
import { spy } from "@std/testing/mock";
import { issueApiKey, revokeApiKey } from "../../../src/keys/write_api_key.ts";
import {
  HELD_BACK_LIMIT,
  HOLD_BACK_MS,
  RateLimiter,
} from "../../../src/http/limits/rate_limiter.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { openTestService, type TestService } from "../../support/test_service.ts";
import { assertRefused } from "../../support/assert_error.ts";

const REX = { name: "Rex", categoryId: 1 };

function open(perSecond: number) {
  const runtime = new FakeRuntime();
  const limiter = new RateLimiter(perSecond, runtime);
  /** The number of requests of a key that are admitted before one is refused. */
  const burst = (keyId = "key") => {
    for (let admitted = 0;; admitted++) {
      if (!limiter.count(keyId).isAdmitted) return admitted;
    }
  };
  return { runtime, limiter, burst };
}

for (const rate of [1, 7, 1_000]) {
  Deno.test(`RateLimiter admits ${2 * rate} requests at once, then ${rate} per second, however many are refused`, async () => {
    const { runtime, burst } = open(rate);
    assertEquals(burst(), 2 * rate);
    for (let refused = 0; refused < 10; refused++) assertEquals(burst(), 0);
    for (let seconds = 0; seconds < 2; seconds++) {
      await runtime.advance(1_000);
      assertEquals(burst(), rate);
    }
    await runtime.advance(60_000);
    assertEquals(burst(), 2 * rate);
  });
}

Deno.test("RateLimiter counts each key separately, by the monotonic clock", async () => {
  const { runtime, burst } = open(5);
  assertEquals(burst("one"), 10);
  runtime.jumpClock(3_600_000);
  assertEquals(burst("one"), 0);
  assertEquals(burst("other"), 10);
  await runtime.advance(200);
  assertEquals(burst("one"), 1);
});

Deno.test("RateLimiter delays up to 2,000 responses at a time, and sends further ones at once", async () => {
  const setTimer = spy((_ms: number, _run: () => void) => () => {});
  const limiter = new RateLimiter(1, Object.assign(new FakeRuntime(), { setTimer }));
  const onSent = spy();
  const sent = Array.from({ length: HELD_BACK_LIMIT + 3 }, () => limiter.holdBack().then(onSent));
  await Promise.all(sent.slice(HELD_BACK_LIMIT));
  assertEquals(onSent.calls.length, 3);
  assertEquals(setTimer.calls.length, HELD_BACK_LIMIT);
  for (const { args: [ms, run] } of setTimer.calls) {
    assertEquals(ms, 1_000);
    run();
  }
  await Promise.all(sent);
});

Deno.test("RateLimiter lets a key wait for the further requests of one that it has admitted", async () => {
  const { runtime, limiter, burst } = open(5);
  assertEquals(limiter.count("key").isAdmitted, true);
  assertEquals(limiter.charge("key", 29).isAdmitted, true);
  await runtime.advance(4_000);
  assertEquals([burst(), burst("other")], [0, 10]);
  await runtime.advance(200);
  assertEquals(burst(), 1);
});

Deno.test("every response to a counted request has the remaining quota, and one beyond it is a delayed 429 that reads no body", async () => {
  await using service = await openTestService({ rateLimit: 5 });
  await service.add(REX);
  const etag = (await service.send("/v1/pets")).headers.get("etag")!;
  const requests: [status: number, path: string, init?: RequestInit][] = [
    [200, "/v1/pets"],
    [304, "/v1/pets", { headers: { "if-none-match": etag } }],
    [404, "/v1/pets/2"],
    [404, "/v1/none"],
    [400, "/v1/pets?limit=0"],
    [405, "/v1/pets", { method: "PUT" }],
    [415, "/v1/pets", { method: "POST", body: "{}" }],
    [200, "/v1/pets/1"],
  ];
  for (const [index, [status, path, init]] of requests.entries()) {
    const response = await service.send(path, init);
    const remaining = 7 - index;
    const limit = `"default";r=${remaining};t=${remaining > 5 ? 2 : 1}`;
    assertEquals([response.status, ...limitOf(response)], [status, '"default";q=10;w=2', limit]);
  }
  const onPull = spy();
  const body = new ReadableStream({ pull: onPull }, { highWaterMark: 0 });
  const headers = { "content-type": "application/json" };
  const refusals = await refuseAll(service, [
    () => service.send("/v1/none"),
    () => service.send("/v1/pets", { method: "DELETE" }),
    () => service.add("{"),
    () => service.send("/v1/pets", { method: "POST", headers, body }),
  ]);
  assertEquals(onPull.calls.length, 0);
  for (const refused of refusals) {
    assertEquals(refused.headers.get("retry-after"), "1");
    assertEquals(limitOf(refused), ['"default";q=10;w=2', '"default";r=0;t=1']);
  }
  // refuseAll() has advanced the time by Retry-After.
  assertEquals((await service.add(REX)).status, 201);
  assertEquals(service.reports, [], "a limited key is not reported as a failure");
});

Deno.test("a request without a valid key or without the need of one is not counted", async () => {
  await using service = await openTestService({ rateLimit: 1 });
  const { id, token } = await issueApiKey(service, { label: "short" });
  const addOnce = () => service.add(REX, { authorization: `Bearer ${token}` });
  await addOnce();
  await addOnce();
  await refuseAll(service, [addOnce]);
  await addOnce();
  await revokeApiKey(service, id);
  const requests: [number, () => Promise<Response>][] = [
    [401, addOnce],
    [401, () => service.sendBare("/v1/pets")],
    [200, () => service.sendBare("/healthz")],
  ];
  for (const [status, request] of requests) {
    for (let times = 0; times < 4; times++) {
      // Time does not advance, so that a delayed response would never come.
      const response = await request();
      assertEquals([response.status, ...limitOf(response)], [status, null, null]);
    }
  }
  assertEquals((await service.send("/v1/pets")).status, 200, "another key has its whole quota");
});

/** Sends requests together and asserts that each gets a delayed 429. */
async function refuseAll(
  service: TestService,
  requests: (() => Promise<Response>)[],
): Promise<Response[]> {
  const limited = { status: 429, code: "rate_limited" };
  let sent = 0;
  const pending = requests.map(async (request) => {
    const response = await assertRefused(service, request, limited);
    sent++;
    return response;
  });
  await service.runtime.advance(HOLD_BACK_MS - 1);
  assertEquals(sent, 0);
  await service.runtime.advance(1);
  return await Promise.all(pending);
}

function limitOf({ headers }: Response): (string | null)[] {
  return [headers.get("ratelimit-policy"), headers.get("ratelimit")];
}
