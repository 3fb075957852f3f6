/** The operation updatePet. Its errors are in `errors_test`, and its rule is tested with its command. */

import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import { DESCRIPTION } from "../support/assert_described.ts";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

testEachWay(
  "of two buyers with the ETag of a page of one id, exactly one succeeds",
  async (service) => {
    const { add, change, send } = service;
    // The page of a long name is sent in gzip, with an ETag of its own.
    const names = ["Rex", "x".repeat(1_000)];
    for (const [index, name] of names.entries()) {
      const id = index + 1;
      await add({ ...REX, name });
      const page = await send(`/v1/pets?ids=${id}`, { headers: { "accept-encoding": "gzip" } });
      await page.body?.cancel();
      const etag = page.headers.get("etag")!;
      assertEquals(etag.endsWith('-gzip"'), name.length === 1_000);
      assertEquals(etag.replace("-gzip", ""), await tagOf(service, id));
      const position = await positionOf(service);
      const buy = () => change(id, { status: "sold" }, { "if-match": etag });
      const bought = await Promise.all([buy(), buy()]);
      assertEquals(bought.map(({ status }) => status).sort(), [200, 412]);
      assertEquals(await positionOf(service), position + 1);
      const { message } = await bought.find(({ status }) => status === 412)!.json();
      assertEquals(message, "The animal has changed since you read it: read it again");
    }
  },
);

testEachWay(
  "a change that finds nothing to change records no Idempotency-Key, as the description says",
  async (service) => {
    const { add, change } = service;
    const added = await add(REX);
    const etag = added.headers.get("etag")!;
    const sell = { status: "sold" };
    const release = { status: "available" };
    const position = await positionOf(service);
    const unconditional = { "idempotency-key": "release" };
    const conditional = { "idempotency-key": "release-rex", "if-match": etag };
    for (const headers of [unconditional, conditional]) {
      const unchanged = await change(1, release, headers);
      assertEquals([unchanged.status, await unchanged.json()], [200, { id: 1, ...REX }]);
    }
    assertEquals(await positionOf(service), position);
    await (await change(1, sell)).body?.cancel();
    const late = () => change(1, release, conditional);
    await assertRefused(service, late, { status: 412, code: "precondition_failed" });
    const retried = await change(1, release, unconditional);
    assertEquals([retried.status, await retried.json()], [200, { id: 1, ...REX }]);
    assertEquals(retried.headers.get("idempotency-replayed"), null);
    const { description } = DESCRIPTION.paths["/pets/{petId}"].patch;
    assertStringIncludes(description, "the `Idempotency-Key` is not remembered");
    assertStringIncludes(description, "this retry gets 412");
  },
);

Deno.test("the ETag of a page of other ids names no animal in If-Match", async () => {
  await using service = await openTestService();
  await service.add(REX);
  for (const ids of ["1,2", "2"]) {
    const page = await service.send(`/v1/pets?ids=${ids}`);
    const condition = { "if-match": page.headers.get("etag")! };
    const change = () => service.change(1, { status: "sold" }, condition);
    await assertRefused(service, change, { status: 412, code: "precondition_failed" });
  }
});

Deno.test("Accept-Patch names the media types of a change on OPTIONS, and with 415", async () => {
  await using service = await openTestService();
  const types = "application/merge-patch+json, application/json";
  const refused = { headers: { "content-type": "text/plain" }, body: "{}" };
  const cases: [path: string, init: RequestInit, status: number, accepted: string | null][] = [
    ["/v1/pets/1", { method: "OPTIONS" }, 204, types],
    ["/v1/pets", { method: "OPTIONS" }, 204, null],
    ["/v1/pets/1", { method: "PATCH", ...refused }, 415, types],
    ["/v1/pets", { method: "POST", ...refused }, 415, null],
  ];
  for (const [path, init, status, accepted] of cases) {
    const response = await service.send(path, init);
    assertEquals([response.status, response.headers.get("accept-patch")], [status, accepted]);
  }
});

/** Writes after two additions: the fields of a new pet, or of the change of the pet with that id. */
const WRITES: [fields: { name?: string; status?: string | null }, id?: number][] = [
  [{ name: REX.name }, 1],
  [{ status: "sold" }],
  [{ status: "available" }],
  [{}],
  [{ status: "sold" }, 1],
  [{ status: "pending" }],
  [{ status: "available" }, 3],
  [{ name: "Max" }, 4],
  [{ status: null }, 3],
  [{ status: "sold" }],
];

const PATHS = ["", "limit=1", "limit=2", "cursor=3", "limit=2&cursor=4", "status=available"]
  .concat("status=sold&limit=1", "status=available&cursor=4", "status=pending")
  .concat("ids=1", "ids=1,2", "name=re&limit=1")
  .map((query) => `/v1/pets?${query}`).concat("/v1/pets/1", "/v1/pets/2")
  .concat("/v1/pets/1/events", "/v1/pets/1/events?limit=1", "/v1/categories");

Deno.test("a write gives a new ETag to exactly the reads that show it, on every instance", async () => {
  await using service = await openTestService();
  const other = otherInstance(service);
  for (let count = 0; count < 2; count++) await service.add(REX);
  const readAll = async ({ send }: Pick<TestService, "send">) => {
    const reads = [];
    for (const path of PATHS) {
      const response = await send(path);
      const { headers } = response;
      reads.push({
        tag: headers.get("etag"),
        content: `${headers.get("link")} ${await response.text()}`,
      });
    }
    return reads;
  };
  let before = await readAll(service);
  const compared = { changed: 0, unchanged: 0 };
  for (const [fields, id] of WRITES) {
    const written = id === undefined
      ? await service.add({ ...REX, status: undefined, ...fields })
      : await service.change(id, fields);
    assertEquals(written.ok, true);
    const after = await readAll(service);
    assertEquals(await readAll(other), after);
    for (const [index, { tag, content }] of after.entries()) {
      const isSame = before[index].content === content;
      compared[isSame ? "unchanged" : "changed"]++;
      assertEquals(before[index].tag === tag, isSame, PATHS[index]);
    }
    before = after;
  }
  const { changed, unchanged } = compared;
  assert(changed > 30 && unchanged > 30, `${changed} changed, ${unchanged} did not`);
});

async function positionOf({ store }: TestService): Promise<number> {
  return (await readHead(APPLICATION, store)).head.position;
}

async function tagOf({ send }: Pick<TestService, "send">, id: number): Promise<string> {
  const response = await send(`/v1/pets/${id}`);
  await response.body?.cancel();
  return response.headers.get("etag")!;
}
