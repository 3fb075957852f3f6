/**
 * One test for each rule of the interface, named after its section. `assertRefused` checks that a body is the Error of
 * section 2.
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { NewPet } from "../../events/pet.ts";
import { newToken } from "../../src/projections/api_key.ts";
import type { TestService } from "../support/test_service.ts";
import { assertRefused, type Expected, testEachWay as test } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };
const INT64 = "an integer from -9223372036854775808 to 9223372036854775807";

/** The refusal of a body. */
const invalidBody = (message: string): Expected => ({
  status: 400,
  code: "invalid_body",
  message: new RegExp(`^${message}$`),
});

test("section 1: all payloads are JSON", async ({ add, send, sendBare }) => {
  const responses = [await add(REX), await send("/v1/pets"), await send("/v1/pets/1")];
  responses.push(await send("/v1/pets/2"), await sendBare("/v1/pets"), await add("{"));
  assertEquals(responses.map(({ status }) => status), [201, 200, 200, 404, 401, 400]);
  for (const response of responses) {
    assertEquals(response.headers.get("content-type"), "application/json");
    await response.json();
  }
});

/** Bodies of section 2 that are refused, with the message. */
const REFUSED_BODIES: [rule: string, message: string, bodies: unknown[]][] = [
  [
    "PetStatus: only available, pending and sold are accepted",
    'Field "status" must be one of available, pending, sold',
    ["Available", "SOLD", "sold ", "", "lost", 1, ["sold"], {}].map((it) => ({
      ...REX,
      status: it,
    })),
  ],
  ["NewPet: name is required", 'Field "name" is missing', [{ categoryId: 1 }]],
  [
    "NewPet: name is a string",
    'Field "name" must be a string',
    [null, 1, true, ["Rex"], { first: "Rex" }].map((name) => ({ ...REX, name })),
  ],
  ["NewPet: categoryId is required", 'Field "categoryId" is missing', [{ name: "Rex" }]],
  [
    "NewPet: categoryId is an integer",
    `Field "categoryId" must be ${INT64}`,
    [null, "1", 1.5, true, [1], {}].map((categoryId) => ({ ...REX, categoryId })),
  ],
  [
    "NewPet: categoryId is an int64",
    `Field "categoryId" must be ${INT64}`,
    ["9223372036854775808", "-9223372036854775809", "1e19"].map((it) =>
      `{"name":"Rex","categoryId":${it}}`
    ),
  ],
  [
    "rule 1: an id from a client is refused",
    `Field "id" is not known; the fields are ${Object.keys(NewPet.shape).join(", ")}`,
    [{ id: 7, ...REX }],
  ],
];

for (const [rule, message, bodies] of REFUSED_BODIES) {
  test(`section 2, ${rule}`, async (service) => {
    for (const body of bodies) {
      await assertRefused(service, () => service.add(body), invalidBody(message));
    }
  });
}

test("section 2, NewPet: categoryId is exact in both directions", async (service) => {
  const exact = ["9223372036854775807", "-9223372036854775808", "9007199254740993", "0", "-1"];
  for (const [index, digits] of exact.entries()) {
    const created = await service.add(`{"name":"Rex","categoryId":${digits}}`);
    const text = `{"id":${index + 1},"name":"Rex","categoryId":${digits}}`;
    assertEquals([created.status, await created.text()], [201, text]);
    assertEquals(await (await service.send(`/v1/pets/${index + 1}`)).text(), text);
    assertStringIncludes(await (await service.send("/v1/pets")).text(), text);
  }
});

test("section 2: a pet has its id, name and categoryId, and the status that it was given", async (service) => {
  const { add, send } = service;
  for (const [index, status] of [undefined, "available", "pending", "sold"].entries()) {
    const pet = { id: index + 1, ...REX, ...(status === undefined ? {} : { status }) };
    const created = await add({ ...REX, status });
    assertEquals([created.status, await created.json()], [201, pet]);
    const read = await send(`/v1/pets/${pet.id}`);
    assertEquals([read.status, await read.json()], [200, pet]);
    assertEquals((await (await send("/v1/pets")).json())[0], pet);
  }
  // A pet without a status has no default one.
  assertEquals(await list(service, "?status=available"), [2]);
});

const OPERATIONS: Record<string, [path: string, init?: RequestInit]> = {
  listPets: ["/v1/pets"],
  createPet: ["/v1/pets", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(REX),
  }],
  getPet: ["/v1/pets/1"],
};

for (const [operation, [path, init = {}]] of Object.entries(OPERATIONS)) {
  test(`sections 5 and 7, ${operation}: the key is the bearer token, or else 401 with an Error`, async (service) => {
    await service.add(REX);
    const { token, sendBare } = service;
    const sendWith = (key: string) => () =>
      sendBare(path, { ...init, headers: { ...init.headers, authorization: `Bearer ${key}` } });
    const response = await sendWith(token)();
    assert(response.ok);
    await response.body?.cancel();
    const missing = { status: 401, code: "missing_credentials" };
    await assertRefused(service, () => sendBare(path, init), missing);
    for (const key of ["x", newToken((length) => new Uint8Array(length))]) {
      const invalid = { status: 401, code: "invalid_credentials" };
      await assertRefused(service, sendWith(key), invalid);
    }
  });
}

test("section 4.1: GET /pets returns 200 with a bare array of pets", async ({ add, send }) => {
  const empty = await send("/v1/pets");
  assertEquals([empty.status, await empty.text()], [200, "[]"]);
  await add(REX);
  const response = await send("/v1/pets");
  assertEquals([response.status, await response.json()], [200, [{ id: 1, ...REX }]]);
});

test("section 4.1, rule 2: status filters by availability", async (service) => {
  const statuses = ["available", "pending", "sold", undefined, "available"];
  for (const status of statuses) await service.add({ ...REX, status });
  assertEquals(await list(service, "?status=available"), [5, 1]);
  assertEquals(await list(service, "?status=pending"), [2]);
  assertEquals(await list(service, "?status=sold"), [3]);
  assertEquals(await list(service, ""), [5, 4, 3, 2, 1]);
});

test("sections 4.2 and 7: a body without a valid pet gets 400 with an Error", async (service) => {
  const bodies: [body: unknown, expected: Expected][] = [
    [{}, invalidBody('Field "name" is missing; Field "categoryId" is missing')],
    [
      { name: 1, categoryId: "1", status: "lost" },
      invalidBody('Field "name" must .*; Field "categoryId" must .*; Field "status" must .*'),
    ],
    ["", { status: 400, code: "malformed_body" }],
  ];
  for (const [body, expected] of bodies) {
    await assertRefused(service, () => service.add(body), expected);
  }
});

test("sections 4.3 and 7: an unknown identifier gets 404 with an Error", async (service) => {
  await service.add(REX);
  for (const id of ["2", "0", "-1", "9223372036854775807", "-9223372036854775808"]) {
    const expected = { status: 404, code: "pet_not_found" };
    await assertRefused(service, () => service.send(`/v1/pets/${id}`), expected);
  }
});

test("section 8: limit is 1 to 100, and 20 by default (4.1, rule 1)", async (service) => {
  await addMany(service, 101);
  for (const [query, length] of [["?limit=1", 1], ["?limit=100", 100], ["", 20]] as const) {
    assertEquals((await list(service, query)).length, length);
  }
  for (const limit of ["0", "101", "-1", "1.5", "ten", "", "99999999999999999999"]) {
    await assertRefused(service, () => service.send(`/v1/pets?limit=${limit}`), {
      status: 400,
      code: "invalid_parameter",
      message: /^Query parameter "limit" must be an integer from 1 to 100$/,
    });
  }
});

test("section 9: the operations exist only under /v1", async (service) => {
  await service.add(REX);
  const paths = ["/pets", "/pets/1", "/v2/pets", "/V1/pets", "/v1", "/v1/", "/v1/pet"];
  paths.push("/v1/pets/", "/v1/pets/1/", "/v1/pets/1/owners", "/v1//pets", "/v1/pets.json");
  for (const path of paths) {
    for (const method of ["GET", "POST"]) {
      const expected = { status: 404, code: "not_found" };
      await assertRefused(service, () => service.send(path, { method }), expected);
    }
  }
});

test("section 9: getPet is deprecated, to be removed on 5 December 2030", async ({ add, send }) => {
  await add(REX);
  for (const path of ["/v1/pets/1", "/v1/pets/2", "/v1/pets/x"]) {
    const response = await send(path);
    await response.body?.cancel();
    // RFC 9745: a structured Date; RFC 8594: an HTTP date.
    assertMatch(response.headers.get("deprecation") ?? "", /^@\d+$/);
    assertEquals(response.headers.get("sunset"), "Thu, 05 Dec 2030 00:00:00 GMT");
    const link = response.headers.get("link") ?? "";
    const target = /^<http:\/\/[^/]+(\/v1\/pets\?status=[a-z]+)>; rel="successor-version"$/
      .exec(link)?.[1];
    const replacement = await send(target!);
    assertEquals(replacement.status, 200);
    await replacement.body?.cancel();
  }
  const { headers, body } = await send("/v1/pets");
  await body?.cancel();
  assertEquals([headers.get("deprecation"), headers.get("sunset")], [null, null]);
});

async function addMany({ add }: TestService, count: number): Promise<void> {
  const responses = await Promise.all(Array.from({ length: count }, () => add(REX)));
  for (const response of responses) {
    assertEquals(response.status, 201);
    await response.body?.cancel();
  }
}

/** The ids of a page. */
async function list({ send }: TestService, query: string): Promise<number[]> {
  const response = await send(`/v1/pets${query}`);
  assertEquals(response.status, 200);
  return (await response.json()).map(({ id }: { id: number }) => id);
}
