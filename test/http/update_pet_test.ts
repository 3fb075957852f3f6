/** The operation updatePet. Its errors are in `errors_test`, and its rule is tested with its command. */

import { crc32 } from "node:zlib";
import { assertEquals, assertNotEquals } from "@std/assert";
import { readHead } from "../../src/log/head.ts";
import { createService } from "../../src/service.ts";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";
import { clientOfHandler, openTestService, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

/** Patches of Rex, each with the text of the pet after it. */
const PATCHES: [patch: string, after: string][] = [
  ['{"status":"sold"}', '{"id":1,"name":"Rex","categoryId":7,"status":"sold"}'],
  ['{"status":null}', '{"id":1,"name":"Rex","categoryId":7}'],
  [
    '{ "categoryId": -9223372036854775808.0, "name": "Mia" }',
    '{"id":1,"name":"Mia","categoryId":-9223372036854775808,"status":"available"}',
  ],
];

for (const type of ["application/json", "application/merge-patch+json; charset=utf-8"]) {
  testEachWay(
    `PATCH with ${type} returns the pet after the change, as every read does`,
    async (service) => {
      const { add, change, send } = service;
      for (const [index, [patch, after]] of PATCHES.entries()) {
        const id = index + 1;
        await add(REX);
        const expected = after.replace('"id":1', `"id":${id}`);
        const position = await positionOf(service);
        const changed = await change(id, patch, { "content-type": type });
        assertEquals([changed.status, await changed.text()], [200, expected]);
        assertEquals(await positionOf(service), position + 1);
        const got = await send(`/v1/pets/${id}`);
        assertEquals(await got.text(), expected);
        const headers = ["etag", "cache-control", "deprecation", "sunset", "link", "location"];
        assertEquals(
          headers.map((name) => changed.headers.get(name)),
          [got.headers.get("etag"), "no-store", null, null, null, null],
        );
        assertEquals(await (await send("/v1/pets?limit=1")).text(), `[${expected}]`);
      }
    },
  );
}

testEachWay("PATCH that changes nothing returns the pet and stores nothing", async (service) => {
  await service.add(REX);
  const before = await readHead(service.store);
  for (const patch of [REX, { status: "available" }, { name: "Rex" }]) {
    const response = await service.change(1, patch);
    assertEquals([response.status, await response.json()], [200, { id: 1, ...REX }]);
    assertEquals(response.headers.get("etag"), await tagOf(service, 1));
  }
  assertEquals(await readHead(service.store), before);
});

/** Values of If-Match for a pet with the tag, and whether they name it. */
const CONDITIONS: [name: string, field: (tag: string) => string, holds: boolean][] = [
  ["the tag", (tag) => tag, true],
  ["a list with the tag", (tag) => `"a", ${tag}`, true],
  ["any tag", () => "*", true],
  ["the weak tag", (tag) => `W/${tag}`, false],
  ["another tag", () => '"a"', false],
  ["a longer tag", (tag) => `${tag.slice(0, -1)}0"`, false],
];

for (const [name, field, holds] of CONDITIONS) {
  testEachWay(
    `If-Match with ${name} ${holds ? "lets a change pass" : "gets 412"}`,
    async (service) => {
      await service.add(REX);
      const condition = { "if-match": field(await tagOf(service, 1)) };
      const change = () => service.change(1, { status: "sold" }, condition);
      if (!holds) {
        const expected = { status: 412, code: "precondition_failed" };
        await assertRefused(service, change, expected);
        return;
      }
      const response = await change();
      assertEquals([response.status, (await response.json()).status], [200, "sold"]);
      assertEquals(response.headers.get("etag"), await tagOf(service, 1));
    },
  );
}

testEachWay(
  "a repeated PATCH with an Idempotency-Key gets the first response, whatever came after",
  async (service) => {
    const { add, change } = service;
    await add(REX);
    const key = { "idempotency-key": "one", "if-match": await tagOf(service, 1) };
    const first = await change(1, { status: "sold" }, key);
    assertEquals(first.headers.get("idempotency-replayed"), null);
    await (await change(1, { status: "pending" })).body?.cancel();
    const before = await readHead(service.store);
    const again = await change(1, { status: "sold" }, key);
    assertEquals([again.status, await again.text()], [200, await first.text()]);
    assertEquals(again.headers.get("idempotency-replayed"), "true");
    assertEquals(again.headers.get("etag"), first.headers.get("etag"));
    assertEquals(await readHead(service.store), before);
  },
);

testEachWay(
  "POST and PATCH return the ETag, and If-None-Match does not make them 304",
  async (service) => {
    const any = { "if-none-match": "*" };
    const added = await service.add(REX, any);
    assertEquals([added.status, added.headers.get("etag")], [201, await tagOf(service, 1)]);
    const response = await service.change(1, { status: "sold" }, any);
    assertEquals([response.status, (await response.json()).status], [200, "sold"]);
  },
);

testEachWay(
  "Accept-Patch names the media types of a change on OPTIONS, and with 415",
  async (service) => {
    await service.add(REX);
    const accepted = async (path: string, init: RequestInit) => {
      const { status, headers, body } = await service.send(path, init);
      await body?.cancel();
      return [status, headers.get("accept-patch")];
    };
    const types = "application/merge-patch+json, application/json";
    assertEquals(await accepted("/v1/pets/1", { method: "OPTIONS" }), [204, types]);
    assertEquals(await accepted("/v1/pets", { method: "OPTIONS" }), [204, null]);
    for (const header of [["content-type", "text/plain"], ["content-encoding", "gzip"]]) {
      const headers = new Headers({ "content-type": "application/json" });
      headers.set(header[0], header[1]);
      const init = { headers, body: "{}" };
      assertEquals(await accepted("/v1/pets/1", { method: "PATCH", ...init }), [415, types]);
      assertEquals(await accepted("/v1/pets", { method: "POST", ...init }), [415, null]);
    }
  },
);

/** Lists that show pet 2, before or after it is sold, and others. */
const LISTS: [query: string, isChanged: boolean, ids: number[]][] = [
  ["", true, [4, 3, 2, 1]],
  ["?limit=2", false, [4, 3]],
  ["?cursor=3", true, [2, 1]],
  ["?status=available", true, [4, 3, 1]],
  ["?status=available&cursor=3", true, [1]],
  ["?status=available&limit=2", false, [4, 3]],
  ["?status=sold", true, [2]],
  ["?status=pending", false, []],
];

Deno.test("a change gives a new ETag to exactly the reads that show it, on every instance; order and cursors stay", async () => {
  await using service = await openTestService();
  const clients = [service, otherInstance(service)];
  for (let id = 1; id <= 4; id++) await service.add(REX);
  const paths = ["/v1/pets/1", "/v1/pets/2", ...LISTS.map(([query]) => `/v1/pets${query}`)];
  const read = async ({ send }: typeof clients[0]) =>
    await Promise.all(paths.map(async (path) => {
      const response = await send(path);
      const link = response.headers.get("link");
      return { etag: response.headers.get("etag")!, link, text: await response.text() };
    }));
  const before = await read(clients[1]);
  await service.change(2, { status: "sold" });
  for (const client of clients) {
    const after = await read(client);
    const isChanged = [false, true, ...LISTS.map(([, isChanged]) => isChanged)];
    for (const [index, { etag, link, text }] of after.entries()) {
      const path = paths[index];
      assertEquals(etag !== before[index].etag, isChanged[index], path);
      const changes = text !== before[index].text || link !== before[index].link;
      assertEquals(changes, isChanged[index], path);
    }
    for (const [index, [query, , ids]] of LISTS.entries()) {
      const pets: { id: number }[] = JSON.parse(after[index + 2].text);
      assertEquals(pets.map(({ id }) => id), ids, query);
    }
    const notModified = { headers: { "if-none-match": before[1].etag } };
    assertEquals((await client.send("/v1/pets/2", notModified)).status, 200);
  }
});

Deno.test("a list that is paged while its pets change skips and repeats no pet that stays in it", async () => {
  await using service = await openTestService();
  for (let id = 1; id <= 30; id++) await service.add(REX);
  const seen: number[] = [];
  let path: string | undefined = "/v1/pets?status=available&limit=4";
  while (path !== undefined) {
    const response = await service.send(path);
    for (const { id } of await response.json()) seen.push(id);
    const next = /<http:\/\/localhost([^>]+)>/.exec(response.headers.get("link") ?? "");
    path = next?.[1];
    // The pet of the cursor leaves the list, and one that was shown is renamed.
    await service.change(seen.at(-1)!, { status: "sold" });
    await service.change(seen.at(-2)!, { name: "Mia" });
  }
  assertEquals(seen, Array.from({ length: 30 }, (_, index) => 30 - index));
});

Deno.test("two states of a pet have different tags also if their CRC-32 is the same", async () => {
  await using service = await openTestService();
  const [one, other] = ["plumless", "buckeroo"].map((name) => ({ name, categoryId: 1 }));
  const texts = [one, other].map((pet) => JSON.stringify({ id: 1, ...pet }));
  assertEquals(crc32(texts[0]), crc32(texts[1]));
  await service.add(one);
  const before = await tagOf(service, 1);
  assertEquals(await (await service.change(1, other)).text(), texts[1]);
  assertNotEquals(await tagOf(service, 1), before);
});

function otherInstance({ store, runtime, token }: TestService) {
  const service = createService({ store, runtime, report: () => {} });
  return { ...service, ...clientOfHandler(token, service.handler) };
}

async function positionOf({ store }: TestService): Promise<number> {
  return (await readHead(store)).head.position;
}

async function tagOf({ send }: Pick<TestService, "send">, id: number): Promise<string> {
  const response = await send(`/v1/pets/${id}`);
  await response.body?.cancel();
  return response.headers.get("etag")!;
}
