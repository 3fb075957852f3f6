/**
 * One test for each rule of the interface, named after its section. The client of the service checks every response
 * against the description: that it is JSON (section 1), and that an error is the Error of section 2.
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import type { TestService } from "../support/test_service.ts";
import { assertRefused, testEachWay as test } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 1 };

/** A body for each rule of section 2, with the beginning of the message. `pet_body_test` has more. */
const REFUSED_BODIES: [message: RegExp, body: unknown][] = [
  [/^Field "status" must be one of available, pending, sold$/, { ...REX, status: "Available" }],
  [/^Field "name" is missing$/, { categoryId: 1 }],
  [/^Field "categoryId" is missing$/, { name: "Rex" }],
  [/^Field "categoryId" must be an integer/, { ...REX, categoryId: "1" }],
  [/^Field "categoryId" must be an integer/, '{"name":"Rex","categoryId":9223372036854775808}'],
  [/^Field "id" is assigned by the service/, { id: 7, ...REX }],
];

test("sections 2, 4.2 and 7: a body without a valid pet gets 400 with an Error", async (service) => {
  for (const [message, body] of REFUSED_BODIES) {
    const expected = { status: 400, code: "invalid_body", message };
    await assertRefused(service, () => service.add(body), expected);
  }
});

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

test("sections 5 and 7: the key is the bearer token, or else 401 with an Error", async (service) => {
  assertEquals((await service.send("/v1/pets")).status, 200);
  const missing = { status: 401, code: "missing_credentials" };
  await assertRefused(service, () => service.sendBare("/v1/pets"), missing);
  const headers = { authorization: `Bearer ${newToken((length) => new Uint8Array(length))}` };
  const invalid = { status: 401, code: "invalid_credentials" };
  await assertRefused(service, () => service.sendBare("/v1/pets", { headers }), invalid);
});

test("section 4.1, rule 2: status filters by availability", async (service) => {
  const statuses = ["available", "pending", "sold", undefined, "available"];
  for (const status of statuses) await service.add({ ...REX, status });
  assertEquals(await list(service, "?status=available"), [5, 1]);
  assertEquals(await list(service, "?status=pending"), [2]);
  assertEquals(await list(service, "?status=sold"), [3]);
  assertEquals(await list(service, ""), [5, 4, 3, 2, 1]);
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
  for (const limit of ["0", "101"]) {
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
  const { headers, body } = await send("/v1/pets/1");
  await body?.cancel();
  // RFC 9745: a structured Date; RFC 8594: an HTTP date. The description says that 304 and 404 have them, too.
  assertMatch(headers.get("deprecation")!, /^@\d+$/);
  assertEquals(headers.get("sunset"), "Thu, 05 Dec 2030 00:00:00 GMT");
  const [, replacement] = /^<http:..[^/]+(.+)>; rel="successor-version"$/
    .exec(headers.get("link")!)!;
  const { pathname, searchParams } = new URL(replacement, "http://localhost");
  assertEquals([pathname, [...searchParams.keys()]], ["/v1/pets", ["status"]]);
  const listed = await send(replacement);
  assertEquals([listed.status, await listed.json()], [200, []]);
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
