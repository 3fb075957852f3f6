/** The operation removePet. Its errors are in `errors_test`, and its rule is tested with its command. */

import { assertEquals } from "@std/assert";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

testEachWay(
  "DELETE removes a pet from every read, for ever, and paging is exact over the gap",
  async (service) => {
    const { add, change, listIds, remove, send } = service;
    for (let count = 0; count < 6; count++) await add(REX);
    // A body is ignored.
    for (const [id, body] of [[3, undefined], [6, "{"]] as const) {
      const { status, headers, body: rest } = await remove(id, {}, body);
      assertEquals([status, rest], [204, null]);
      assertEquals([headers.get("etag"), headers.get("cache-control")], [null, "no-store"]);
    }
    for (const query of ["", "status=available", "ids=6,5,4,3,2,1"]) {
      assertEquals(await listIds(query), [5, 4, 2, 1]);
    }
    assertEquals(await listIds("categoryId=7&limit=2&cursor=5"), [4, 2]);
    assertEquals(await listIds("limit=2&cursor=5"), [4, 2]);
    const gone = { status: 404, code: "pet_not_found" };
    for (const id of [3, 6]) {
      assertEquals((await send(`/v1/pets/${id}`)).status, 404);
      await assertRefused(service, () => change(id, { status: "sold" }), gone);
      await assertRefused(service, () => remove(id, { "if-match": "*" }), gone);
    }
    assertEquals((await (await add(REX)).json()).id, 7);
  },
);

testEachWay("If-Match and Idempotency-Key hold for DELETE as for PATCH", async (service) => {
  const { add, change, remove } = service;
  await add(REX);
  const { headers } = await change(1, { status: "sold" });
  const changed = { status: 412, code: "precondition_failed" };
  await assertRefused(service, () => remove(1, { "if-match": '"a"' }), changed);
  const fields = { "if-match": headers.get("etag")!, "idempotency-key": "once" };
  for (const replayed of [null, "true", "true"]) {
    const removed = await remove(1, fields);
    assertEquals([removed.status, removed.headers.get("idempotency-replayed")], [204, replayed]);
  }
  const reused = { status: 409, code: "idempotency_key_reused" };
  await assertRefused(service, () => remove(2, { "idempotency-key": "once" }), reused);
});
