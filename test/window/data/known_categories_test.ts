import { assertEquals } from "@std/assert";
import {
  categoriesWithName,
  faultOfCategoryName,
  findCategories,
  forgetUsedCategories,
  idAboveKnown,
  isNewCategoryName,
  namedCategories,
  rememberCategories,
  setCategoryNames,
  twinsOf,
  unnamedCategories,
} from "../../../src/window/data/categories.ts";
import { describePet, FIELDS } from "../../../src/window/data/fields.ts";

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
  assertEquals(categoriesWithName("category 4"), [4n]);
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
  for (const text of ["dog", "7.5"]) {
    assertEquals(parse(text), `There is no category “${text}”`);
  }
  // Two names that differ by blanks alone are not clear.
  assertEquals(parse("twins"), "Several categories have the name “twins”: write the id");
  name();
  assertEquals(parse("Dogs"), "There is no category “Dogs”");
});

Deno.test("categories are compared without what nobody sees, and letters may be decomposed", () => {
  name([7n, "Dogs\u200b"], [8n, "Zo\u00eb"], [9n, "Cats"], [10n, "C\u00adats"], [11n, "CATS"]);
  assertEquals(categoriesWithName("\ufeffdogs \u200e"), [7n]);
  assertEquals(found("zoe\u0308"), ["Zo\u00eb"]);
  assertEquals(found("d\u200dog"), ["Dogs\u200b"]);
  assertEquals(category.parse("7\u200b"), { isSound: true, value: 7n });
  assertEquals(["\u2066Dogs", "Zoe\u0308", "cats\u200b", "Mice"].map(isNewCategoryName), [
    false,
    false,
    false,
    true,
  ]);
  const twins = namedCategories.value.map((it) => [it.id, twinsOf(it)]);
  assertEquals(
    new Map(twins as [bigint, bigint[]][]),
    new Map([
      [7n, []],
      [8n, []],
      [9n, [10n, 11n]],
      [10n, [9n, 11n]],
      [11n, [9n, 10n]],
    ]),
  );
});

Deno.test("a number that a spreadsheet has rounded is neither a category nor the name of a new one", () => {
  name([7n, "Dogs"]);
  for (const text of ["9.0072E+15", "1E5", "1,5E+3", "-2e-7", "1.00E+05", " 1.E5 ", ".5e3"]) {
    const fault = `Category is a number that a spreadsheet has rounded: ${text.trim()}`;
    assertEquals(category.parse(text), { isSound: false, fault });
    assertEquals(isNewCategoryName(text), false, text);
    assertEquals(faultOfCategoryName(text), "Name is a number that a spreadsheet has rounded");
  }
  for (const text of ["E5", "1E", "1E5 dogs", "1EE5"]) assertEquals(isNewCategoryName(text), true);
});

Deno.test("an animal is described by the name of its category or, without one, its id", () => {
  name([7n, "Dogs"]);
  assertEquals(describePet({ categoryId: 7n }), "Dogs, no status");
  name();
  assertEquals(describePet({ categoryId: 7n }), "category 7, no status");
});
