/** The operation removePet. Its errors are in `errors_test`, and its rule is tested with its command. */

import { assertEquals } from "@std/assert";
import { assertRefused, testEachWay } from "../support/test_each_way.ts";
import { otherInstance, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

testEachWay(
  "DELETE removes a pet from every read, for ever, and paging is exact over the gap",
  async (service) => {
    const { add, change, send } = service;
    for (let count = 0; count < 6; count++) await add(REX);
    // A body is ignored.
    for (const [id, body] of [[3, undefined], [6, "{"]] as const) {
      const removed = await remove(service, id, {}, body);
      assertEquals([removed.status, await removed.text()], [204, ""]);
      assertEquals(["etag", "cache-control"].map((it) => removed.headers.get(it)), [
        null,
        "no-store",
      ]);
    }
    for (const path of ["/v1/pets", "/v1/pets?status=available", "/v1/pets?ids=6,5,4,3,2,1"]) {
      assertEquals(await idsOf(service, path), [5, 4, 2, 1]);
    }
    assertEquals(await idsOf(service, "/v1/pets?categoryId=7&limit=2&cursor=5"), [4, 2]);
    assertEquals(await idsOf(service, "/v1/pets?limit=2&cursor=5"), [4, 2]);
    const gone = { status: 404, code: "pet_not_found" };
    for (const id of [3, 6]) {
      assertEquals((await send(`/v1/pets/${id}`)).status, 404);
      await assertRefused(service, () => change(id, { status: "sold" }), gone);
      await assertRefused(service, () => remove(service, id, { "if-match": "*" }), gone);
    }
    assertEquals((await (await add(REX)).json()).id, 7);
  },
);

testEachWay("If-Match and Idempotency-Key hold for DELETE as for PATCH", async (service) => {
  await service.add(REX);
  const { headers } = await service.change(1, { status: "sold" });
  const changed = { status: 412, code: "precondition_failed" };
  await assertRefused(service, () => remove(service, 1, { "if-match": '"a"' }), changed);
  const fields = { "if-match": headers.get("etag")!, "idempotency-key": "once" };
  for (const replayed of [null, "true", "true"]) {
    const removed = await remove(service, 1, fields);
    assertEquals([removed.status, removed.headers.get("idempotency-replayed")], [204, replayed]);
  }
  await service.add(REX);
  const reused = { status: 409, code: "idempotency_key_reused" };
  await assertRefused(service, () => remove(service, 2, { "idempotency-key": "once" }), reused);
  await assertRefused(service, () => service.add(REX, { "idempotency-key": "once" }), reused);
});

testEachWay(
  "of several DELETEs at once, on two instances, one gets 204 and the others 404",
  async (service) => {
    await service.add(REX);
    const clients = [service, otherInstance(service)];
    const removing = Array.from({ length: 8 }, (_, index) => remove(clients[index % 2], 1));
    const statuses = (await Promise.all(removing)).map(({ status }) => status).sort();
    assertEquals(statuses, [204, ...Array(7).fill(404)]);
  },
);

function remove(
  { send }: Pick<TestService, "send">,
  id: number,
  headers: HeadersInit = {},
  body?: string,
) {
  return send(`/v1/pets/${id}`, { method: "DELETE", headers, body });
}

async function idsOf({ send }: TestService, path: string): Promise<number[]> {
  return (await (await send(path)).json()).map(({ id }: { id: number }) => id);
}
