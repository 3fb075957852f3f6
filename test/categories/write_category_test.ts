/** namingRule() and removalRule() as given, when, then. `interface/categories` has the conditions and the other names. */

import { assertEquals, assertThrows } from "@std/assert";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import { foldName } from "../../src/encoding/fold_name.ts";
import { CATEGORIES_LIMIT, namingRule, removalRule } from "../../src/categories/write_category.ts";
import { encodeCategory } from "../../events/category.ts";

/** The categories before a request: their names by id, and positions 101, 102 … */
function before(names: Record<string, string>) {
  const records = Object.entries(names).map(([id, name], index) => {
    const category = { id: BigInt(id), name };
    const text = encodeCategory(category);
    return {
      ...category,
      text,
      foldedName: foldName(name),
      position: 101 + index,
      isProven: true,
    };
  });
  return { byId: new Map(records.map((record) => [record.id, record])) };
}

const DOGS = { 7: "Dogs" };
const FULL = Object.fromEntries(
  Array.from({ length: CATEGORIES_LIMIT }, (_, index) => [index, `Category ${index}`]),
);

type Name = Parameters<typeof namingRule>[0];

const name = (id: bigint, name: string): Name => ({ id, name });

/** The names before, a request, and its event, or the code with which it is refused. */
const NAMINGS: [given: Record<string, string>, when: Name, then: object | string | undefined][] = [
  [{}, name(7n, "Dogs"), { data: { id: 7n, name: "Dogs" }, predecessor: undefined }],
  [DOGS, name(7n, "Cats"), {
    data: { id: 7n, name: "Cats", previous: { name: "Dogs" } },
    predecessor: 101,
  }],
  [DOGS, name(7n, "Dogs"), undefined],
  // Twins of an earlier version stay, and get other names.
  [{ 7: "Dogs", 8: "Dogs\u200b" }, name(8n, "Dogs\u200b"), undefined],
  [{ 7: "Dogs", 8: "Dogs\u200b" }, name(8n, "Cats"), {
    data: { id: 8n, name: "Cats", previous: { name: "Dogs\u200b" } },
    predecessor: 102,
  }],
  [FULL, name(-1n, "Dogs"), "too_many_categories"],
  [FULL, name(-1n, "category 7"), "category_name_taken"],
  [FULL, name(7n, "Dogs"), {
    data: { id: 7n, name: "Dogs", previous: { name: "Category 7" } },
    predecessor: 108,
  }],
  [FULL, name(7n, "Category 7"), undefined],
];

Deno.test("given names, namingRule() decides an event, nothing or a refusal", () => {
  for (const [given, when, then] of NAMINGS) {
    const decide = () => namingRule(when).decide(before(given));
    if (typeof then === "string") assertEquals(assertThrows(decide, ServiceError).code, then);
    else assertEquals(decide(), then && ({ type: "CategoryNamed", ...then } as object));
  }
});

Deno.test("namingRule() continues from the removal of a category", () => {
  const decided = namingRule(name(7n, "Dogs")).decide({ byId: new Map(), removedAt: 9 });
  assertEquals(decided?.predecessor, 9);
});

Deno.test("removalRule() continues from the name of the category", () => {
  const decided = removalRule({ id: 7n }).decide(before(DOGS));
  const removed = { type: "CategoryRemoved", data: { id: 7n, name: "Dogs" }, predecessor: 101 };
  assertEquals(decided as object, removed);
});
