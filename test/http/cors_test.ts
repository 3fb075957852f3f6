import { assert, assertEquals } from "@std/assert";
import { describeInterface } from "../../src/http/docs/openapi.ts";
import { DESCRIPTION } from "../support/assert_described.ts";
import { openTestService } from "../support/test_service.ts";

const ORIGIN = "https://shop.example";
const STRANGER = "https://other.example";

const PREFLIGHT = {
  origin: ORIGIN,
  "access-control-request-method": "POST",
  "access-control-request-headers": "authorization,content-type,idempotency-key",
};

const METHODS = {
  "/v1/pets": "GET, HEAD, POST, OPTIONS",
  "/v1/pets/1": "GET, HEAD, PATCH, DELETE, OPTIONS",
  "/v1/pets/1/events": "GET, HEAD, OPTIONS",
  "/v1/key": "GET, HEAD, OPTIONS",
  "/openapi.json": "GET, HEAD, OPTIONS",
};

Deno.test("a preflight gets 204 without a key on every known path, with CORS headers only for a configured origin", async () => {
  await using service = await openSharing();
  for (const [path, methods] of Object.entries(METHODS)) {
    for (const origin of [ORIGIN, STRANGER, `${ORIGIN}.evil.example`, "null"]) {
      const headers = { ...PREFLIGHT, origin };
      const response = await service.sendBare(path, { method: "OPTIONS", headers });
      assertEquals([response.status, await response.text()], [204, ""]);
      assertEquals(response.headers.get("allow"), methods);
      const forOrigin = {
        ...SHARED,
        "access-control-allow-headers":
          "authorization, content-type, idempotency-key, if-match, if-none-match, last-event-id",
        "access-control-allow-methods": methods,
        "access-control-max-age": "7200",
      };
      const expected = origin === ORIGIN ? forOrigin : { vary: "origin" };
      assertEquals(crossOriginHeaders(response), expected);
    }
  }
});

Deno.test("OPTIONS that gets 401 allows a configured origin nothing", async () => {
  await using service = await openSharing();
  const refused: [string, Record<string, string>][] = [
    ["/v1/pets", { origin: ORIGIN }],
    ["/v1/cats", PREFLIGHT],
  ];
  for (const [path, headers] of refused) {
    const response = await service.sendBare(path, { method: "OPTIONS", headers });
    assertEquals([response.status, crossOriginHeaders(response)], [401, SHARED]);
    await response.body?.cancel();
  }
});

Deno.test("scripts of a configured origin can read every response, errors included", async () => {
  await using service = await openSharing();
  const headers = { authorization: `Bearer ${service.token}`, "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":1}';
  const requests: [string, RequestInit, number][] = [
    ["/v1/pets", { method: "POST", body, headers }, 201],
    ["/v1/pets", { headers: { ...headers, "if-none-match": "*" } }, 304],
    ["/v1/pets", {}, 401],
    ["/v1/pets/9", { headers }, 404],
    ["/v1/pets", { method: "POST", body: "{", headers }, 400],
  ];
  for (const [path, init, status] of requests) {
    // Only a list may be compressed.
    const vary = status === 304 ? "accept-encoding, origin" : "origin";
    for (const origin of [ORIGIN, STRANGER]) {
      const withOrigin = { ...init, headers: { ...init.headers, origin } };
      const response = await service.sendBare(path, withOrigin);
      const expected = origin === ORIGIN ? { ...SHARED, vary } : { vary };
      assertEquals([response.status, crossOriginHeaders(response)], [status, expected]);
    }
  }
});

Deno.test("every header of the interface that browsers hide by default is exposed", () => {
  const names = Object.keys(DESCRIPTION.components.headers).map((name) => name.split(".")[0]);
  // The headers that the Fetch standard lets every script read (https://fetch.spec.whatwg.org/#cors-safelisted-response-header-name).
  const readable = ["cache-control", "content-language", "content-length", "content-type"];
  readable.push("accept-encoding", "access-control-allow-origin");
  const hidden = new Set(names.map((name) => name.toLowerCase())).difference(new Set(readable));
  assertEquals([...hidden].sort(), EXPOSED.split(", "));
});

Deno.test("every header of a described request may be sent by a script", async () => {
  await using service = await openSharing();
  const preflight = await service.sendBare("/v1/pets", { method: "OPTIONS", headers: PREFLIGHT });
  const allowed = preflight.headers.get("access-control-allow-headers")!.split(", ");
  for (const [, name] of describeInterface().matchAll(/"name":"([\w-]+)","in":"header"/g)) {
    assert(allowed.includes(name.toLowerCase()), name);
  }
});

const EXPOSED =
  "accept-patch, deprecation, etag, idempotency-replayed, link, location, ratelimit, ratelimit-policy, retry-after, sunset, www-authenticate, x-feed-position, x-request-id, x-total-count";

/** The headers of every response to a configured origin. */
const SHARED = {
  "access-control-allow-origin": ORIGIN,
  "access-control-expose-headers": EXPOSED,
  vary: "origin",
};

/** A service with one configured origin. */
const openSharing = () => openTestService({ corsOrigins: [ORIGIN] });

function crossOriginHeaders({ headers }: Response): Record<string, string> {
  const isOfCors = (name: string) => name.startsWith("access-control-") || name === "vary";
  return Object.fromEntries([...headers].filter(([name]) => isOfCors(name)));
}
