/**
 * One test for each rule of the interface, named after its section. The client of the service checks every response
 * against the description: that it is JSON (section 1), and that an error is the Error of section 2.
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newToken } from "../../src/keys/token.ts";
import type { TestService } from "../support/test_service.ts";
import { assertRefused, testEachWay as test } from "../support/test_each_way.ts";

type Send = (service: TestService) => Promise<Response>;

const REX = { name: "Rex", categoryId: 1 };
const UNKNOWN_TOKEN = newToken((length) => new Uint8Array(length));

/** A refusal for each rule, after its section. `errors_test`, `parse_body_test` and `routes_test` have more. */
const REFUSALS: [section: string, status: number, code: string, send: Send][] = [
  ["2: status", 400, "invalid_body", ({ add }) => add({ ...REX, status: "Available" })],
  ["2: name", 400, "invalid_body", ({ add }) => add({ categoryId: 1 })],
  ["2: categoryId", 400, "invalid_body", ({ add }) => add({ ...REX, categoryId: "1" })],
  ["2: int64", 400, "invalid_body", ({ add }) => add(`{"name":"Rex","categoryId":${2n ** 63n}}`)],
  ["4.2: id", 400, "invalid_body", ({ add }) => add({ id: 7, ...REX })],
  ["4.3: identifier", 404, "pet_not_found", ({ send }) => send(`/v1/pets/${2n ** 63n - 1n}`)],
  ["5: no key", 401, "missing_credentials", ({ sendBare }) => sendBare("/v1/pets")],
  ["5: other key", 401, "invalid_credentials", ({ sendBare }) => {
    return sendBare("/v1/pets", { headers: { authorization: `Bearer ${UNKNOWN_TOKEN}` } });
  }],
  ["8: limit", 400, "invalid_parameter", ({ send }) => send("/v1/pets?limit=0")],
  ["8: limit", 400, "invalid_parameter", ({ send }) => send("/v1/pets?limit=101")],
  ["9: base path", 404, "not_found", ({ send }) => send("/pets")],
  ["9: base path", 404, "not_found", ({ send }) => send("/v2/pets", { method: "POST" })],
];

test("section 7: what another section does not allow gets its status with an Error", async (service) => {
  for (const [section, status, code, send] of REFUSALS) {
    const response = await assertRefused(service, () => send(service), { status, code });
    assertEquals(response.status, status, section);
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

test("sections 2 and 4.1, rule 2: a pet has the status that it was given, by which lists are filtered", async (service) => {
  const statuses = ["available", "pending", "sold", undefined, "available"];
  for (const [index, status] of statuses.entries()) {
    const pet = { id: index + 1, ...REX, ...(status === undefined ? {} : { status }) };
    assertEquals(await (await service.add({ ...REX, status })).json(), pet);
  }
  assertEquals(await service.listIds("status=available"), [5, 1]);
  assertEquals(await service.listIds("status=pending"), [2]);
  assertEquals(await service.listIds("status=sold"), [3]);
  assertEquals(await service.listIds("status=none"), [4]);
  assertEquals(await service.listIds(), [5, 4, 3, 2, 1]);
});

test("section 8: limit is 1 to 100, and 20 by default (4.1, rule 1)", async (service) => {
  const added = await Promise.all(Array.from({ length: 101 }, () => service.add(REX)));
  for (const { status, body } of added) {
    assertEquals(status, 201);
    await body?.cancel();
  }
  for (const [query, length] of [["limit=1", 1], ["limit=100", 100], ["", 20]] as const) {
    assertEquals((await service.listIds(query)).length, length);
  }
});

test("4.4 and 4.6, added: If-Match takes the ETag as a proxy that compresses leaves it", async (service) => {
  const { add, change, remove, send } = service;
  const etagOf = async () => {
    const page = await send("/v1/pets?ids=1");
    await page.body?.cancel();
    return page.headers.get("etag")!;
  };
  await add(REX);
  const before = await etagOf();
  const sold = await change(1, { status: "sold" }, { "if-match": `W/${before}` });
  assertEquals([sold.status, (await sold.json()).status], [200, "sold"]);
  const late = () => change(1, { status: "pending" }, { "if-match": `W/${before}` });
  await assertRefused(service, late, { status: 412, code: "precondition_failed" });
  const coded = (await etagOf()).replace(/"$/, '-gzip"');
  assertEquals((await remove(1, { "if-match": coded })).status, 204);
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
