import { assertEquals } from "@std/assert";
import {
  categoryWithName,
  findCategories,
  forgetUsedCategories,
  idAboveKnown,
  rememberCategories,
  setCategoryNames,
  unnamedCategories,
} from "../../src/window/data/category_names.ts";
import { describePet, FIELDS } from "../../src/window/data/fields.ts";

const LARGEST = 2n ** 63n - 1n;

const category = FIELDS.find(({ name }) => name === "categoryId")!;

const name = (...names: [bigint, string][]) =>
  setCategoryNames(names.map(([id, name]) => ({ id, name })));

const found = (text: string) => findCategories(text).map((it) => it.name);

Deno.test("findCategories() finds parts of names without regard to case, and an id", () => {
  name([7n, "Dogs"], [71n, "hot dogs"], [LARGEST, "Cats"], [3n, "Route 7"]);
  assertEquals(found(""), ["Cats", "Dogs", "hot dogs", "Route 7"]);
  assertEquals(found(" DOG "), ["Dogs", "hot dogs"]);
  // The category with the id comes first, then names.
  assertEquals(found("7"), ["Dogs", "Route 7"]);
  assertEquals(found(String(LARGEST)), ["Cats"]);
  assertEquals(found("birds"), []);
});

Deno.test("findCategories() finds a category without a name by its number, after those with names", () => {
  name([7n, "Dogs"], [8n, "Cats"]);
  rememberCategories([41n, 7n, 4n]);
  const ids = (text: string) => findCategories(text).map(({ id }) => id);
  assertEquals(ids(""), [8n, 7n, 4n, 41n]);
  assertEquals(ids("4"), [4n, 41n]);
  assertEquals(ids("cat"), [8n, 4n, 41n]);
  assertEquals(ids("category 41"), [41n]);
  assertEquals(ids("1"), []);
  assertEquals(categoryWithName("category 4"), 4n);
  assertEquals(idAboveKnown(), 42n);
  name([7n, "Dogs"], [8n, "Cats"], [4n, "Birds"]);
  assertEquals(unnamedCategories.value, [{ id: 41n }]);
  rememberCategories([LARGEST]);
  assertEquals(idAboveKnown(), 1n);
  forgetUsedCategories();
  assertEquals(unnamedCategories.value, []);
  assertEquals(idAboveKnown(), 9n);
});

Deno.test("a category may be written as its name or its id, and the id is what is meant in doubt", () => {
  name([7n, "Dogs"], [8n, "10"], [9n, "Twins"], [10n, " Twins "], [LARGEST, "Straße"]);
  const parse = (text: string) => {
    const parsed = category.parse(text);
    return parsed.isSound ? parsed.value : parsed.fault;
  };
  assertEquals(["dogs", " DOGS ", "7", "10", "8"].map(parse), [7n, 7n, 7n, 10n, 8n]);
  assertEquals(parse("STRASSE"), LARGEST);
  // Two names that differ by blanks alone are not clear.
  assertEquals(categoryWithName("Twins"), undefined);
  for (const text of ["Twins", "dog", "7.5"]) {
    assertEquals(parse(text), `There is no category “${text}”`);
  }
  name();
  assertEquals(parse("Dogs"), "There is no category “Dogs”");
});

Deno.test("an animal is described by the name of its category or, without one, its id", () => {
  name([7n, "Dogs"]);
  assertEquals(describePet({ categoryId: 7n }), "Dogs, no status");
  name();
  assertEquals(describePet({ categoryId: 7n }), "category 7, no status");
});
