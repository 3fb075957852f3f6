import { APPLICATION } from "../../src/application.ts";
import { assertEquals } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import { EMPTY_HEAD, encodeHead } from "../../src/eventstore_less/log/head.ts";
import { HEAD_RECENT_MS } from "../../src/eventstore_less/log/head_reader.ts";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { TrustedProxies } from "../../src/api/requests/trusted_proxies.ts";
import { StoreDamagedError } from "../../src/eventstore_less/store/store_errors.ts";
import type { Mutation } from "../../src/eventstore_less/store/store.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";
import { assertError, assertRefused, type Expected } from "../support/assert_error.ts";
import { commit } from "../support/store_contract.ts";

const REX = { name: "Rex", categoryId: 1 };

Deno.test("a store with a lost or older head gets 503, not an empty catalogue", async () => {
  // head_reader_test has other ways to lose a head.
  for (const damagedHead of [undefined, EMPTY_HEAD]) {
    await using service = await openTestService({ isDurable: true });
    await service.add(REX);
    await service.send("/v1/pets");
    const mutation: Mutation = damagedHead === undefined
      ? { type: "delete", key: HEAD_KEY }
      : { type: "set", key: HEAD_KEY, value: encodeHead(APPLICATION, damagedHead) };
    await commit(service.store, [mutation]);
    // The head before the damage is still taken for the newest.
    const unavailable = { status: 503, code: "store_unavailable" };
    const adding = service.runtime.settle(service.add(REX));
    await assertError(await adding, { status: 503, code: "outcome_unknown" });
    await service.runtime.advance(HEAD_RECENT_MS + 1);
    for (const path of ["/v1/pets", "/v1/pets?status=sold", "/v1/pets/1", "/v1/pets/9"]) {
      await assertError(await service.send(path), unavailable);
    }
    await assertError(await service.add(REX), unavailable);
    await assertError(await service.sendBare("/readyz"), {
      status: 503,
      code: "not_ready",
      message: /head record/,
    });
    const errors = service.reports.filter(([level]) => level === "error");
    assertEquals(errors.map(([, event]) => event), ["head_lost"]);
    const log = await service.store.list({ prefix: ["~log"] }, { limit: 10 });
    assertEquals(log.length, 2, "nothing was written over the log");
  }
});

const WRITES = [["POST", "/v1/pets"], ["PATCH", "/v1/pets/1"], ["PUT", "/v1/categories/7"]];

/** Sends writes with bodies, and asserts that each is refused without a read of its body. */
async function assertRefusedUnread(service: TestService, token: string, expected: Expected) {
  for (const [method, path] of WRITES) {
    let pulls = 0;
    const body = new ReadableStream({ pull: () => void pulls++ }, { highWaterMark: 0 });
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const send = () => service.sendBare(path, { method, headers, body });
    const response = await assertRefused(service, send, expected);
    assertEquals(pulls, 0, `${method} ${token}`);
    const fault = expected.status === 403 ? "insufficient_scope" : "invalid_token";
    assertEquals(response.headers.get("www-authenticate"), `Bearer error="${fault}"`);
  }
}

const INVALID = { status: 401, code: "invalid_credentials" };

Deno.test("the body of a request with an unknown, revoked or expired key is not read", async () => {
  await using service = await openTestService();
  const expiresAt = service.runtime.now() + HEAD_RECENT_MS + 1;
  const [revoked, revokedElsewhere, expired] = [
    await issueApiKey(service, { label: "revoked" }),
    await issueApiKey(service, { label: "revoked elsewhere" }),
    await issueApiKey(service, { label: "expired", expiresAt }),
  ];
  // Each key is cached while it is valid.
  for (const { token } of [revoked, revokedElsewhere, expired]) {
    const response = await service.add(REX, { authorization: `Bearer ${token}` });
    assertEquals(response.status, 201);
  }
  await revokeApiKey(otherInstance(service), revokedElsewhere.id);
  // An instance learns from a head that is at most this old.
  await service.runtime.advance(HEAD_RECENT_MS + 1);
  await assertRefusedUnread(service, revokedElsewhere.token, INVALID);
  await revokeApiKey(service, revoked.id);
  const unknown = newToken((length) => new Uint8Array(length).fill(255));
  for (const token of ["mistyped", unknown, revoked.token, expired.token]) {
    await assertRefusedUnread(service, token, INVALID);
  }
});

Deno.test("a read-only key may read, but its POST, PATCH and PUT get 403 without a look at the body, also if cached", async () => {
  await using service = await openTestService();
  const { id, token } = await issueApiKey(service, { label: "reader", isReadOnly: true });
  const authorization = `Bearer ${token}`;
  for (let attempt = 0; attempt < 2; attempt++) {
    const expected = { status: 403, code: "read_only_key" };
    await assertRefusedUnread(service, token, expected);
    const listed = await service.send("/v1/pets", { headers: { authorization } });
    assertEquals([listed.status, await listed.json()], [200, []]);
  }
  await revokeApiKey(otherInstance(service), id);
  // The key is cached as live here.
  await assertError(await service.add("{}", { authorization }), INVALID);
});

Deno.test("ACCESS_LOG logs each response, without queries and tokens", async () => {
  await using service = await openTestService({ accessLog: true });
  const { keyId: key, add, send } = service;
  await add(REX);
  await send("/v1/pets?categoryId=1", { method: "HEAD" });
  await send("/v1/pets/1", { headers: { "if-none-match": "*", authorization: "" } });
  await send("/v1/pets/1", { headers: { "if-none-match": "*" } });
  const waiting = send("/v1/events?lastEventId=now&timeout=1500");
  await service.runtime.advance(2_000);
  const requestId = (await waiting).headers.get("x-request-id");
  const lines = service.reports.filter(([, event]) => event === "request").map(([, , it]) => it!);
  const texts = lines.map((it) => `${it.method} ${it.path} ${it.status} ${it.key === key}`);
  const first = ["POST /v1/pets 201 true", "HEAD /v1/pets 200 true", "GET /v1/pets/1 401 false"];
  assertEquals(texts, [...first, "GET /v1/pets/1 304 true", "GET /v1/events 200 true"]);
  assertEquals([lines.at(-1)!.ms, lines.at(-1)!.requestId], [1_500, requestId]);
});

Deno.test("ACCESS_LOG logs the bytes of each body, the code of an error and the address of the client", async () => {
  const trustedProxies = TrustedProxies.parse("127.0.0.1");
  await using service = await openTestService({ accessLog: true, trustedProxies });
  const { add, fetch, reports, send, token } = service;
  const linesOf = async (sent: Promise<Response>) => {
    const before = reports.length;
    const response = await sent;
    const lines = reports.slice(before).filter(([, event]) => event === "request");
    assertEquals(lines.length, 1);
    return { response, line: lines[0][2]! };
  };
  const refused = await linesOf(send("/v1/pets/9"));
  const bytes = (await refused.response.bytes()).length;
  assertEquals([refused.line.code, refused.line.bytes], ["pet_not_found", bytes]);
  const added = await linesOf(add({ name: "Žofie".repeat(3), categoryId: 1 }));
  const { code, bytes: sent } = added.line;
  assertEquals([code, sent], [undefined, (await added.response.bytes()).length]);
  const list = await linesOf(send("/v1/pets"));
  assertEquals(list.line.bytes, (await list.response.bytes()).length);
  // The bytes that are sent are those of the gzip.
  for (let count = 0; count < 40; count++) await add(REX);
  const packed = await linesOf(
    send("/v1/pets?limit=100", { headers: { "accept-encoding": "gzip" } }),
  );
  assertEquals(packed.response.headers.get("content-encoding"), "gzip");
  assertEquals(packed.line.bytes, (await packed.response.bytes()).length);
  for (const init of [{ method: "HEAD" }, { headers: { "if-none-match": "*" } }]) {
    assertEquals((await linesOf(send("/v1/pets", init))).line.bytes, 0);
  }
  const stream = await linesOf(send("/v1/events", { headers: { accept: "text/event-stream" } }));
  assertEquals(stream.line.bytes, undefined);
  await stream.response.body!.cancel();

  const clientOf = async (peer: string) => {
    const headers = { authorization: `Bearer ${token}`, "x-forwarded-for": "203.0.113.1" };
    const request = new Request("http://localhost/v1/pets", { headers });
    return (await linesOf(fetch(request, peer))).line.address;
  };
  assertEquals(await clientOf("127.0.0.1"), "203.0.113.1");
  assertEquals(await clientOf("198.51.100.7"), "198.51.100.7");
});

Deno.test("ACCESS_LOG leaves out probes that succeed", async () => {
  await using service = await openTestService({ accessLog: true, isDurable: true });
  const { reports, sendBare } = service;
  const lines = () => reports.filter(([, event]) => event === "request").map(([, , it]) => it!);
  for (const path of ["/healthz", "/readyz"]) {
    for (const method of ["GET", "HEAD", "OPTIONS"]) await sendBare(path, { method });
  }
  assertEquals(lines(), []);
  service.noteDamage(new StoreDamagedError("a damage"));
  assertEquals((await sendBare("/readyz")).status, 503);
  await sendBare("/healthz", { method: "POST" });
  assertEquals(lines().map(({ path, code }) => [path, code]), [
    ["/readyz", "not_ready"],
    ["/healthz", "method_not_allowed"],
  ]);
});

Deno.test("The log of refused keys names the client behind a trusted proxy", async () => {
  const trustedProxies = TrustedProxies.parse("127.0.0.1");
  await using service = await openTestService({ trustedProxies });
  const headers = { authorization: "Bearer pets_none", "x-forwarded-for": "203.0.113.1" };
  await service.fetch(new Request("http://localhost/v1/pets", { headers }), "127.0.0.1");
  const [[, , details]] = service.reports.filter(([, event]) => event === "credentials_refused");
  assertEquals(details!.address, "203.0.113.1");
});

Deno.test("Lines of requests repeat a kilobyte of the path and of the method, and no part of a key", async () => {
  await using service = await openTestService({ accessLog: true });
  const { token } = service;
  const begin = `/v1/${"x".repeat(1_000)}`;
  const path = `${begin}${token}/${"y".repeat(10_000)}`;
  assertEquals((await service.send(path, { method: "M".repeat(10_000) })).status, 404);
  service.faults.onGet = () => Promise.reject(new Error("a defect"));
  await service.runtime.advance(60_000);
  assertEquals((await service.runtime.settle(service.send(path))).status, 503);
  const details = service.reports.map(([, , it]) => it!);
  assertEquals(service.reports.map(([, event]) => event), ["request", "request_failed", "request"]);
  for (const { path } of details) {
    assertEquals(path, `${begin}pets_…/${"y".repeat(13)}…`);
  }
  assertEquals(details[0].method, `${"M".repeat(1_024)}…`);
});
