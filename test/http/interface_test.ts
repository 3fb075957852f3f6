/**
 * The interface by its sections (src/http/README.md): the first tests to read. Each runs on the handler and over a
 * socket. The client of the tests checks every response against the description: that it is JSON (section 1), that
 * its status, headers and members are described, and that an error is the Error of section 2. `errors_test` has all
 * errors with their requests.
 */

import { assertEquals, assertMatch } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { assertRefused, testEachWay as test } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };
const UNKNOWN_TOKEN = newToken((length) => new Uint8Array(length));

/** The status and the exact body of a response. */
async function answer(responding: Promise<Response>): Promise<[status: number, text: string]> {
  const response = await responding;
  return [response.status, await response.text()];
}

/** Requests that would succeed, or be refused for another reason if their credentials were checked later. */
const REQUESTS: [path: string, init?: RequestInit][] = [
  ["/v1/pets"],
  ["/v1/pets", {
    method: "POST",
    body: JSON.stringify(REX),
    headers: { "content-type": "application/json" },
  }],
  ["/v1/horses"],
  ["/v1/pets", { method: "DELETE" }],
  ["/v1/pets", { method: "OPTIONS" }],
  ["/v1/pets?colour=red"],
  ["/v1/pets", { method: "POST", body: "{", headers: { "content-type": "application/json" } }],
  ["/v1/pets", { method: "POST", body: new Uint8Array(100_000) }],
  ["/v1/pets/x", { method: "PATCH", body: "{", headers: { "if-match": "x" } }],
];

test("section 5: the key is checked before anything else of a request", async (service) => {
  const missing = { status: 401, code: "missing_credentials" };
  const invalid = { status: 401, code: "invalid_credentials" };
  for (const [path, init] of REQUESTS) {
    await assertRefused(service, () => service.sendBare(path, init), missing);
    for (const key of ["nonsense", UNKNOWN_TOKEN]) {
      const headers = { ...init?.headers, authorization: `Bearer ${key}` };
      await assertRefused(service, () => service.sendBare(path, { ...init, headers }), invalid);
    }
  }
  for (const path of ["/healthz", "/openapi.json", "/docs"]) {
    assertEquals((await answer(service.sendBare(path)))[0], 200, path);
  }
});

test("section 4: a character that needs no encoding means the same in a path if it is encoded", async (service) => {
  const { add, nameCategory, remove, send, sendBare } = service;
  const init = { method: "POST", headers: { "content-type": "application/json" } };
  const added = await send("/%761/%70et%73", { ...init, body: JSON.stringify(REX) });
  assertMatch(added.headers.get("location")!, /^http:..[^/]+\/v1\/pets\/1$/);
  assertEquals((await add(REX)).status, 201);
  assertEquals((await nameCategory("%2D%35", "Dogs")).status, 201);
  assertEquals((await remove("%32")).status, 204);
  const paths: [encoded: string, plain: string][] = [
    ["/v1/pets/%31", "/v1/pets/1"],
    ["/v1/pets/%31?%6Cimit=1", "/v1/pets/1?limit=1"],
    ["/%761/pets?limit=%31", "/v1/pets?limit=1"],
    ["/v1/pets/1/%65vents", "/v1/pets/1/events"],
    ["/v1/%65vents?limit=2", "/v1/events?limit=2"],
    ["/v1/%6Bey", "/v1/key"],
    ["/v1/categories/%2d5", "/v1/categories/-5"],
    ["/v1/categories/-%35/events", "/v1/categories/-5/events"],
    ["/v1/%7Epets", "/v1/~pets"],
  ];
  for (const [encoded, plain] of paths) {
    assertEquals(await answer(send(encoded)), await answer(send(plain)), encoded);
  }
  for (const path of ["/%64ocs", "/openapi%2ejson"]) {
    assertEquals((await answer(sendBare(path)))[0], 200, path);
  }
  const unknown = { status: 404, code: "not_found" };
  for (const path of ["/v1%2Fpets", "/v1/%2570ets", "/v1/pets%00", "/v1/p%65t", "/v1/pets%3F"]) {
    await assertRefused(service, () => send(path), unknown);
  }
});
