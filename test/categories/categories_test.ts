/** Names of categories that come at the same time, and to several instances. */

import { assertEquals } from "@std/assert";
import { openTestService, otherInstance } from "../support/test_service.ts";

/** The status and the exact body of a response. */
async function answer(responding: Promise<Response>): Promise<[status: number, text: string]> {
  const response = await responding;
  return [response.status, await response.text()];
}

Deno.test("of several names for a category at once, If-None-Match lets one pass", async () => {
  await using service = await openTestService();
  const names = ["Dogs", "Cats", "Owls", "Rats", "Bats", "Hens", "Pigs", "Emus"];
  const statuses = await Promise.all(
    names.map(async (name) =>
      (await answer(service.nameCategory("7", name, { "if-none-match": "*" })))[0]
    ),
  );
  assertEquals(statuses.toSorted(), [201, ...Array(names.length - 1).fill(412)]);
  const kept = names[statuses.indexOf(201)];
  assertEquals(await service.listCategories(), [{ id: 7n, name: kept }]);
});

Deno.test("another instance shows and decides on each name at once", async () => {
  await using service = await openTestService();
  const other = otherInstance(service);
  for (let number = 0; number < 5; number++) {
    const [here, there] = number % 2 === 0 ? [service, other] : [other, service];
    assertEquals(await there.listCategories(), await here.listCategories());
    await here.nameCategory("7", `Name ${number}`);
    assertEquals((await there.listCategories()).map(({ name }) => name), [`Name ${number}`]);
    assertEquals((await there.nameCategory("8", `NAME ${number}`)).status, 409);
    const [status, text] = await answer(there.nameCategory("7", `Name ${number}`));
    assertEquals([status, JSON.parse(text).name], [200, `Name ${number}`]);
  }
  // Of two that want one name at the same moment, one gets it.
  const both = Promise.all([service.nameCategory("1", "Owls"), other.nameCategory("2", "owls")]);
  const statuses = (await service.runtime.settle(both)).map(({ status }) => status);
  assertEquals(statuses.sort(), [201, 409]);
});
