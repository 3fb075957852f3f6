/**
 * The interface by its sections (src/http/README.md): the first tests to read. Each runs on the handler and over a
 * socket. The client of the tests checks every response against the description: that it is JSON (section 1), that
 * its status, headers and members are described, and that an error is the Error of section 2. `errors_test` has all
 * errors with their requests.
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import { nextPathOf } from "../support/read_pages.ts";
import { assertRefused, testEachWay as test } from "../support/test_each_way.ts";
import type { TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };
const UNKNOWN_TOKEN = newToken((length) => new Uint8Array(length));
const GONE = { status: 404, code: "pet_not_found" };

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

test("section 2: categoryId is an int64, exact in both directions", async ({ add, send }) => {
  const exact = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-1"];
  for (const [index, digits] of exact.entries()) {
    const text = `{"id":${index + 1},"name":"Rex","categoryId":${digits}}`;
    assertEquals(await answer(add(`{"name":"Rex","categoryId":${digits}}`)), [201, text]);
    assertEquals(await answer(send(`/v1/pets/${index + 1}`)), [200, text]);
    assertStringIncludes((await answer(send("/v1/pets")))[1], text);
  }
});

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

/** Two bodies that mean the same. */
const SAME = [
  '{"name":"Rex","categoryId":7,"status":"available"}',
  '{ "status": "available", "categoryId":70e-1, "name":"\\u0052ex" }',
];

test("4.2: an addition gets its address, and with an Idempotency-Key is done once", async (service) => {
  const once = { "idempotency-key": "order-4711" };
  const text = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}';
  for (const [index, replayed] of [null, "true"].entries()) {
    const added = await service.add(SAME[index], once);
    assertEquals([added.status, await added.text()], [201, text]);
    assertMatch(added.headers.get("location")!, /^http:..[^/]+\/v1\/pets\/1$/);
    assertEquals(added.headers.get("idempotency-replayed"), replayed);
  }
  const other = () => service.add({ ...REX, name: "Mia" }, once);
  await assertRefused(service, other, { status: 409, code: "idempotency_key_reused" });
  assertEquals(await service.listIds(), [1]);
});

test("4.3 and 9: getPet is deprecated, to be removed on 5 December 2030", async ({ add, send }) => {
  await headersOf(add({ ...REX, status: "sold" }));
  const headers = await headersOf(send("/v1/pets/1"));
  // RFC 9745: a structured Date; RFC 8594: an HTTP date. The description says that 304 and 404 have them, too.
  assertMatch(headers.get("deprecation")!, /^@\d+$/);
  assertEquals(headers.get("sunset"), "Thu, 05 Dec 2030 00:00:00 GMT");
  const successor = /^<http:..[^/]+(.+)>; rel="successor-version"$/;
  const [, replacement] = successor.exec(headers.get("link")!)!;
  const { pathname, searchParams } = new URL(replacement, "http://localhost");
  assertEquals([pathname, [...searchParams.keys()]], ["/v1/pets", ["status"]]);
  assertEquals(await answer(send(replacement)), [200, "[]"]);
});

/** Patches of Rex, each with its media type and the fields of the pet after it. */
const PATCHES: [type: string, patch: string, fields: string][] = [
  ["application/json", '{"status":"sold"}', '"name":"Rex","categoryId":7,"status":"sold"'],
  ["application/merge-patch+json; charset=utf-8", '{"status":null}', '"name":"Rex","categoryId":7'],
  [
    "application/merge-patch+json",
    '{ "categoryId": -9223372036854775808.0, "name": "Mia" }',
    '"name":"Mia","categoryId":-9223372036854775808,"status":"available"',
  ],
];

test("4.4: PATCH changes the fields that it names, and returns the pet as every read does", async (service) => {
  const { add, change, send } = service;
  for (const [index, [type, patch, fields]] of PATCHES.entries()) {
    const id = index + 1;
    const after = `{"id":${id},${fields}}`;
    await headersOf(add(REX));
    const changed = await change(id, patch, { "content-type": type });
    assertEquals([changed.status, await changed.text()], [200, after]);
    const got = await send(`/v1/pets/${id}`);
    assertEquals(await got.text(), after);
    assertEquals(changed.headers.get("etag"), got.headers.get("etag"));
    assertEquals(changed.headers.get("cache-control"), "no-store");
    assertEquals(await answer(send("/v1/pets?limit=1")), [200, `[${after}]`]);
  }
});

/** Headers that name a tag, which is given without its quotes: as it is, and as a proxy that compresses leaves it. */
const NAMING_TAG: ((bare: string) => string)[] = [
  (bare) => `"${bare}"`,
  (bare) => `"a", "${bare}"`,
  () => "*",
  (bare) => `W/"${bare}"`,
  (bare) => `"${bare}-gzip"`,
  (bare) => `"a", W/"${bare}-zstd"`,
];

test("4.4 and 4.6: If-Match lets a write pass if it names the ETag, and else gets 412", async (service) => {
  const { add, change, remove, send } = service;
  const etagOf = async () => (await headersOf(send("/v1/pets?ids=1"))).get("etag")!;
  const added = await headersOf(add(REX));
  assertEquals(added.get("etag"), await etagOf());
  for (const [index, naming] of NAMING_TAG.entries()) {
    const condition = { "if-match": naming((await etagOf()).slice(1, -1)) };
    const changed = await change(1, { categoryId: index }, condition);
    assertEquals([changed.status, (await changed.json()).categoryId], [200, index]);
  }
  const etag = await etagOf();
  const late = { status: 412, code: "precondition_failed" };
  for (const field of ['W/"a"', '"a"', `${etag.slice(0, -1)}0"`, added.get("etag")!]) {
    const condition = { "if-match": field };
    await assertRefused(service, () => change(1, { status: "sold" }, condition), late);
    await assertRefused(service, () => remove(1, condition), late);
  }
  assertEquals((await remove(1, { "if-match": `W/${etag}` })).status, 204);
});

test("4.6: a removed pet is in no read but its history, its id is not used again, and pages are exact over the gap", async (service) => {
  const { add, change, listIds, remove, send } = service;
  await addMany(service, 6);
  const once = { "idempotency-key": "once" };
  // A body is ignored.
  assertEquals((await remove(6, {}, "{")).status, 204);
  for (const replayed of [null, "true"]) {
    const { status, headers, body } = await remove(3, once);
    assertEquals([status, body, headers.get("idempotency-replayed")], [204, null, replayed]);
    assertEquals([headers.get("etag"), headers.get("cache-control")], [null, "no-store"]);
  }
  for (const query of ["", "status=available", "categoryId=7", "ids=6,5,4,3,2,1"]) {
    assertEquals(await listIds(query), [5, 4, 2, 1]);
  }
  assertEquals(await listIds("limit=2&cursor=5"), [4, 2]);
  for (const id of [3, 6]) {
    await assertRefused(service, () => send(`/v1/pets/${id}`), GONE);
    await assertRefused(service, () => change(id, { status: "sold" }), GONE);
    await assertRefused(service, () => remove(id, { "if-match": "*" }), GONE);
  }
  const key = await (await send("/v1/key")).json();
  const [removal, addition]: Event[] = await (await send("/v1/pets/3/events")).json();
  assertEquals([removal.type, removal.actor, addition.type], ["PetRemoved", key.id, "PetCreated"]);
  const reused = { status: 409, code: "idempotency_key_reused" };
  await assertRefused(service, () => remove(2, once), reused);
  assertEquals((await (await add(REX)).json()).id, 7);
});

test("4.16 and 4.1: a removed pet is in the list of removed ones, and comes back as it was, with its history", async (service) => {
  const { add, change, listIds, remove, restore, send } = service;
  for (const name of ["Rex", "Max", "Mia"]) await headersOf(add({ ...REX, name }));
  const sold = await (await change(2, { status: "sold" })).text();
  await assertRefused(service, () => restore(2), { status: 409, code: "pet_not_removed" });
  await assertRefused(service, () => restore(4), GONE);
  for (const id of [2, 1]) await headersOf(remove(id));
  const listed = await send("/v1/pets?removed=true");
  assertEquals(listed.headers.get("x-total-count"), "2");
  const [first, second] = await listed.json();
  assertEquals([first.id, second.id], [1, 2], "last removed first");
  const { removedAt, etag, ...pet } = second;
  assertEquals(pet, JSON.parse(sold));
  const [removal]: { time: string }[] = await (await send("/v1/pets/2/events")).json();
  assertEquals(removedAt, removal.time);
  const late = { status: 412, code: "precondition_failed" };
  await assertRefused(service, () => restore(2, { "if-match": first.etag }), late);
  const condition = { "if-match": etag, "idempotency-key": "back" };
  for (const replayed of [null, "true"]) {
    const restored = await restore(2, condition);
    assertEquals([restored.status, await restored.text()], [200, sold]);
    const { headers } = restored;
    assertEquals([headers.get("etag"), headers.get("idempotency-replayed")], [etag, replayed]);
  }
  assertEquals(await listIds("removed=true"), [1]);
  assertEquals(await listIds("removed=false&status=sold"), [2]);
  assertEquals(await answer(send("/v1/pets?ids=2")), [200, `[${sold}]`]);
  const history: Event[] = await (await send("/v1/pets/2/events")).json();
  const types = history.map(({ type }) => type);
  assertEquals(types, ["PetRestored", "PetRemoved", "PetUpdated", "PetCreated"]);
  assertEquals(history[0].data, JSON.parse(sold));
  assertEquals((await change(2, { status: null })).status, 200);
  await assertRefused(service, () => restore(1, { "idempotency-key": "back" }), {
    status: 409,
    code: "idempotency_key_reused",
  });
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

test("section 7: a refused request gets an Error, and stores nothing", async (service) => {
  const invalid = { status: 400, code: "invalid_body" };
  const bodies = [
    { ...REX, status: "Available" },
    { categoryId: 1 },
    { ...REX, categoryId: "1" },
    `{"name":"Rex","categoryId":${2n ** 63n}}`,
    { ...REX, id: 7 },
  ];
  for (const body of bodies) await assertRefused(service, () => service.add(body), invalid);
  await assertRefused(service, () => service.send(`/v1/pets/${2n ** 63n - 1n}`), GONE);
  const unknown = { status: 404, code: "not_found" };
  await assertRefused(service, () => service.send("/pets"), unknown);
});

test("4.4 and 4.6: If-None-Match refuses a write of an animal in a state that it names", async (service) => {
  const { add, change, remove, send } = service;
  const etag = (await headersOf(add(REX))).get("etag")!;
  const failed = { status: 412, code: "precondition_failed", message: /If-None-Match excludes/ };
  for (const tags of ["*", etag, `"a", W/${etag.replace(/"$/, '-gzip"')}`]) {
    const condition = { "if-none-match": tags };
    await assertRefused(service, () => change(1, { status: "sold" }, condition), failed);
    await assertRefused(service, () => remove(1, condition), failed);
    await assertRefused(service, () => remove(2, condition), GONE);
  }
  assertEquals((await change(1, { status: "sold" }, { "if-none-match": '"a"' })).status, 200);
  assertEquals((await remove(1, { "if-none-match": etag })).status, 204);
  // An addition has no state before it, whatever the state of the list.
  for (const header of ["if-match", "if-none-match"]) {
    const listed = (await headersOf(send("/v1/pets"))).get("etag")!;
    for (const field of ["*", listed, '"a"']) {
      assertEquals((await add(REX, { [header]: field })).status, 201);
    }
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
