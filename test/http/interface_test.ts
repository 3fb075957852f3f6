/**
 * The interface by its sections (src/http/README.md): the first tests to read. Each runs on the handler and over a
 * socket. The client of the tests checks every response against the description: that it is JSON (section 1), that
 * its status, headers and members are described, and that an error is the Error of section 2. `errors_test` has all
 * errors with their requests.
 */

import { assertEquals, assertMatch } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { nextPathOf } from "../support/read_pages.ts";
import { assertRefused, testEachWay as test } from "../support/test_each_way.ts";
import type { TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };
const UNKNOWN_TOKEN = newToken((length) => new Uint8Array(length));

interface Event {
  id: string;
  type: string;
  subject: string;
  actor?: string;
  data: { name: string; previous?: object };
}

/** The status and the exact body of a response. */
async function answer(responding: Promise<Response>): Promise<[status: number, text: string]> {
  const response = await responding;
  return [response.status, await response.text()];
}

async function headersOf(responding: Promise<Response>): Promise<Headers> {
  const { body, headers } = await responding;
  await body?.cancel();
  return headers;
}

async function addMany({ add }: TestService, count: number): Promise<void> {
  for (let number = 0; number < count; number++) await headersOf(add(REX));
}

test("sections 2 and 4.1: a pet has the status that it was given or none, and lists filter by it", async (service) => {
  const statuses = ["available", "pending", "sold", undefined, "available"];
  for (const [index, status] of statuses.entries()) {
    const pet = { name: "Rex", categoryId: 1, ...(status === undefined ? {} : { status }) };
    assertEquals(await (await service.add(pet)).json(), { id: index + 1, ...pet });
  }
  assertEquals(await service.listIds("status=available"), [5, 1]);
  assertEquals(await service.listIds("status=pending"), [2]);
  assertEquals(await service.listIds("status=sold"), [3]);
  assertEquals(await service.listIds("status=none"), [4]);
  assertEquals(await service.listIds(), [5, 4, 3, 2, 1]);
});

test("4.1 and 4.5: a list says how many match, the next page, and from where events continue it", async (service) => {
  const { add, listIds, remove, send } = service;
  await addMany(service, 4);
  await add({ ...REX, categoryId: 8 });
  const first = await headersOf(send("/v1/pets?limit=2"));
  assertEquals([first.get("x-total-count"), nextPathOf(first)], ["5", "/v1/pets?limit=2&cursor=4"]);
  assertEquals(await listIds("limit=2&cursor=4"), [3, 2]);
  assertEquals(nextPathOf(await headersOf(send("/v1/pets?limit=2&cursor=2"))), undefined);
  assertEquals(await listIds("order=asc&limit=2&cursor=3"), [4, 5]);
  assertEquals(await listIds("categoryId=8"), [5]);
  assertEquals(await listIds("categoryId=8.0&status=sold"), []);
  // A page of a category does not know how many match on others.
  const ofCategory = await headersOf(send("/v1/pets?categoryId=7&limit=2"));
  assertEquals(ofCategory.get("x-total-count"), null);
  assertEquals(await listIds("ids=2,99,1,4.0,2"), [4, 2, 1]);
  assertEquals(await listIds("ids=2&ids=5"), [5, 2]);
  assertEquals(await listIds("name=rex&limit=1"), [5]);

  const position = first.get("x-feed-position");
  assertEquals(await answer(send(`/v1/events?lastEventId=${position}`)), [200, "[]"]);
  await headersOf(add(REX));
  await remove(1);
  const later: Event[] = await (await send(`/v1/events?lastEventId=${position}`)).json();
  assertEquals(later.map(({ type, subject }) => [type, subject]), [
    ["PetCreated", "pets/6"],
    ["PetRemoved", "pets/1"],
  ]);
});

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

test("section 8: limit is 1 to 100, and 20 by default", async (service) => {
  await Promise.all(Array.from({ length: 101 }, () => headersOf(service.add(REX))));
  const lengthOf = async (path: string) => (await (await service.send(path)).json()).length;
  for (const path of ["/v1/pets"]) {
    assertEquals(await lengthOf(path), 20);
    assertEquals(await lengthOf(`${path}?limit=1`), 1);
    assertEquals(await lengthOf(`${path}?limit=100`), 100);
    const invalid = { status: 400, code: "invalid_parameter" };
    for (const limit of [0, 101]) {
      await assertRefused(service, () => service.send(`${path}?limit=${limit}`), invalid);
    }
  }
});
