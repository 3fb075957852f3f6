/** Pages of animals with long names end by their text. */

import { assertEquals, assertGreater, assertLess } from "@std/assert";
import { PAGE_LENGTH } from "../../src/animals/page.ts";
import { readPages } from "../support/read_pages.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const NAME = `犬${"🐕".repeat(999)}`;

/** A service with 100 pets whose texts have 2 Ki code units each. */
async function openLong(): Promise<TestService> {
  const service = await openTestService();
  for (let categoryId = 1; categoryId <= 100; categoryId++) {
    await service.add({ name: NAME, categoryId: categoryId % 2, status: "sold" });
  }
  return service;
}

Deno.test("pages of lists and searches end by their text, and lead to all animals; a page of ids is whole", async () => {
  await using service = await openLong();
  const { runtime, send } = service;
  const ids = Array.from({ length: 100 }, (_, index) => index + 1);
  const queries = ["limit=100", "limit=100&status=sold", "limit=100&order=asc"];
  queries.push("limit=100&categoryId=1", `limit=100&name=${encodeURIComponent("🐕")}`);
  for (const query of queries) {
    const shown: number[] = [];
    const lengths: number[] = [];
    const client = { send: (path: string) => runtime.settle(send(path)) };
    for await (const { items } of readPages<{ id: number }>(client, `/v1/pets?${query}`)) {
      lengths.push(JSON.stringify(items).length);
      for (const { id } of items) shown.push(id);
    }
    const expected = query.includes("categoryId") ? ids.filter((id) => id % 2 === 1) : ids;
    assertEquals(shown, query.includes("asc") ? expected : expected.toReversed(), query);
    if (expected.length === 100) assertEquals(lengths.length, 2, query);
    for (const length of lengths) assertLess(length, PAGE_LENGTH + 4 * 1024);
  }
  const whole = await send(`/v1/pets?ids=${ids}`);
  const text = await whole.text();
  assertEquals(JSON.parse(text).length, 100);
  assertGreater(text.length, PAGE_LENGTH);
});
