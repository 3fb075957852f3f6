/** namingRule() and removalRule() as given, when, then. `interface/categories` has what is refused. */

import { assertEquals } from "@std/assert";
import { foldName } from "../../src/encoding/fold_name.ts";
import { namingRule, removalRule } from "../../src/categories/write_category.ts";
import { type Category, encodeCategory } from "../../events/category.ts";

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

const name = (id: bigint, name: string) => ({ id, name });

/** The names before, a request, and its event. */
const NAMINGS: [given: Record<string, string>, when: Category, then: object | undefined][] = [
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
];

Deno.test("given names, namingRule() decides an event or nothing", () => {
  for (const [given, when, then] of NAMINGS) {
    const decided = namingRule(when).decide(before(given));
    assertEquals(decided, then && ({ type: "CategoryNamed", ...then } as object));
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
