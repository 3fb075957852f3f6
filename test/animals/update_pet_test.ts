/** The reads that show what the operation updatePet writes. */

import { assert, assertEquals } from "@std/assert";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 7, status: "available" };

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
