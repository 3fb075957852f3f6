/** The reader of categories: what it reads and proves, and what damage it finds. */

import { audit, replay } from "../support/tools.ts";
import { assertEquals } from "@std/assert";
import { logKey, projectionKey } from "../../src/eventstore_less/keyspace.ts";
import {
  categoryContentOf,
  categoryKey,
  removalContentOf,
  removedCategoryKey,
} from "../../src/categories/category_records.ts";
import { putRecord } from "../support/set_record.ts";
import { assertError } from "../support/assert_error.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

const key = (id: bigint) => projectionKey(1, categoryKey(id));
const removalKey = (id: bigint) => projectionKey(1, removedCategoryKey(id));

/** Category 7 is named at position 2, 8 at position 3; 9 is named at 4 and removed at 5. */
async function nameThree({ nameCategory, removeCategory }: TestService): Promise<void> {
  await nameCategory(7n, "Dogs");
  await nameCategory(8n, "Cats");
  await nameCategory(9n, "Owls");
  await removeCategory(9n);
}

type Content = Uint8Array | string | undefined;

/** A damage, the statuses of a list, of a new name for category 5 and for 9, and whether a replay helps. */
const DAMAGES: [name: string, key: readonly (string | number)[], Content, statuses: number[]][] = [
  ["a lost category", key(7n), undefined, [500, 500, 500]],
  ["a category that no event made", key(6n), categoryContentOf(2, "Rats"), [500, 500, 500]],
  ["a category under another text", projectionKey(1, ["category", "07"]), "{}", [500, 500, 500]],
  ["another name", key(7n), categoryContentOf(2, "Rats"), [200, 500, 500]],
  ["another position", key(7n), categoryContentOf(3, "Dogs"), [200, 500, 500]],
  ["a removal at another position", removalKey(9n), removalContentOf(4), [200, 201, 500]],
];

Deno.test("damage of a record refuses what would be decided on it, until a replay", async () => {
  for (const [name, damaged, content, statuses] of DAMAGES) {
    await using service = await openTestService();
    await nameThree(service);
    await putRecord(service.store, damaged, content);
    const other = otherInstance(service);
    const requests = [
      () => other.send("/v1/categories"),
      () => other.nameCategory(5n, "Rats"),
      () => other.nameCategory(9n, "Bats"),
    ];
    for (const [index, request] of requests.entries()) {
      const response = await request();
      assertEquals([name, response.status], [name, statuses[index]]);
      if (response.status === 500) {
        await assertError(response, { status: 500, code: "projection_damaged" });
      } else await response.body?.cancel();
    }
    assertEquals((await audit(service)).sound, false);
    await service.runtime.settle(replay(service));
    assertEquals((await other.nameCategory(9n, "Bats")).status, 201);
    assertEquals((await audit(service)).faults, []);
  }
});

Deno.test("a damaged line of a name refuses other names, because no replay repairs it", async () => {
  await using service = await openTestService();
  await nameThree(service);
  await putRecord(service.store, logKey(2), "{}\n");
  const other = otherInstance(service);
  assertEquals((await other.listCategories()).length, 2);
  const refused = await other.nameCategory(5n, "Rats");
  await assertError(refused, { status: 500, code: "projection_damaged" });
});

Deno.test("the history of a category is refused if its events do not lead to its name", async () => {
  await using service = await openTestService();
  await nameThree(service);
  await putRecord(service.store, key(7n), categoryContentOf(3, "Dogs"));
  const refused = await otherInstance(service).send("/v1/categories/7/events");
  await assertError(refused, { status: 500, code: "projection_damaged" });
});

Deno.test("names that come together are decided one after the other, and animals share their commits", async () => {
  await using service = await openTestService();
  const { add, nameCategory, runtime } = service;
  const names = ["Dogs", "dogs", "Cats", "Owls", "DOGS"];
  const requests = names.flatMap((name, index) => [
    nameCategory(BigInt(index), name),
    add({ name, categoryId: index }),
  ]);
  const statuses = (await runtime.settle(Promise.all(requests))).map(({ status }) => status);
  assertEquals(statuses, [201, 201, 409, 201, 201, 201, 201, 201, 409, 201]);
  const { faults, position } = await audit(service);
  assertEquals([faults, position], [[], 9]);
});
