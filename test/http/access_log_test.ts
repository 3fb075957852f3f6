import { assertEquals } from "@std/assert";
import { openTestService, type TestService } from "../support/test_service.ts";

/** The logged responses. */
function responsesOf({ reports }: TestService) {
  return reports.filter(([, event]) => event === "request").map(([, , details]) => details!);
}

Deno.test("ACCESS_LOG logs each response, without queries and tokens", async () => {
  await using service = await openTestService({ accessLog: true });
  const { keyId: key, send, sendBare } = service;
  const added = await service.add({ name: "Rex", categoryId: 1 });
  const etag = (await send("/v1/pets/1")).headers.get("etag")!;
  await send("/v1/pets?categoryId=1", { method: "HEAD" });
  await send("/v1/pets/1", { headers: { "if-none-match": etag } });
  await send("/v1/pets/2");
  await service.add("{");
  await sendBare("/v1/pets", { headers: { authorization: "Bearer guess" } });
  await sendBare("/healthz");
  const stream = await send("/v1/events", { headers: { accept: "text/event-stream" } });
  const lines = responsesOf(service);
  await stream.body!.cancel();
  assertEquals(lines.map(({ method, path, status, key }) => [method, path, status, key]), [
    ["POST", "/v1/pets", 201, key],
    ["GET", "/v1/pets/1", 200, key],
    ["HEAD", "/v1/pets", 200, key],
    ["GET", "/v1/pets/1", 304, key],
    ["GET", "/v1/pets/2", 404, key],
    ["POST", "/v1/pets", 400, key],
    ["GET", "/v1/pets", 401, undefined],
    ["GET", "/healthz", 200, undefined],
    ["GET", "/v1/events", 200, key],
  ]);
  assertEquals(lines[0].requestId, added.headers.get("x-request-id"));
  assertEquals(Object.keys(lines[0]), ["method", "path", "status", "ms", "key", "requestId"]);
});

Deno.test("ACCESS_LOG: ms is the time until the response", async () => {
  await using service = await openTestService({ accessLog: true });
  const waiting = service.send("/v1/events?lastEventId=now&timeout=1500");
  await service.runtime.advance(2_000);
  await waiting;
  assertEquals(responsesOf(service).map(({ ms }) => ms), [1_500]);
});

Deno.test("Without ACCESS_LOG, no response is logged", async () => {
  await using service = await openTestService();
  await service.send("/v1/pets");
  assertEquals(responsesOf(service), []);
});
