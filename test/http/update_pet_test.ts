/** The operation updatePet. Its errors are in `errors_test`, and its rule is tested with its command. */

import { assertEquals } from "@std/assert";
import { readHead } from "../../src/log/head.ts";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

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

testEachWay(
  "If-Match lets a change pass if it names the ETag, and else gets 412",
  async (service) => {
    const added = await service.add(REX);
    assertEquals(added.headers.get("etag"), await tagOf(service, 1));
    for (const [index, before] of ["", '"a", ', "*"].entries()) {
      const condition = { "if-match": before === "*" ? "*" : before + await tagOf(service, 1) };
      const changed = await service.change(1, { categoryId: index }, condition);
      assertEquals([changed.status, (await changed.json()).categoryId], [200, index]);
      assertEquals(changed.headers.get("etag"), await tagOf(service, 1));
    }
    const tag = await tagOf(service, 1);
    for (const field of [`W/${tag}`, '"a"', `${tag.slice(0, -1)}0"`]) {
      const change = () => service.change(1, { status: "sold" }, { "if-match": field });
      await assertRefused(service, change, { status: 412, code: "precondition_failed" });
    }
  },
);

testEachWay("a repeated PATCH with an Idempotency-Key gets the first response", async (service) => {
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
});

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

async function positionOf({ store }: TestService): Promise<number> {
  return (await readHead(store)).head.position;
}

async function tagOf({ send }: Pick<TestService, "send">, id: number): Promise<string> {
  const response = await send(`/v1/pets/${id}`);
  await response.body?.cancel();
  return response.headers.get("etag")!;
}
