import { assertEquals } from "@std/assert";
import { causesOf, newCategoriesOf } from "../../../src/window/import/causes.ts";
import { draftOf, planOf } from "../../../src/window/import/draft.ts";

function leftOutOf(text: string) {
  const draft = draftOf("animals.csv", new TextEncoder().encode(text));
  return planOf(draft, undefined)!.leftOut;
}

Deno.test("causesOf() begins with the most animals: each line of an open quote may be one, and a row with line breaks is one", () => {
  const causes = causesOf(
    leftOutOf('name,category\nA,"x\n\n\n"\n,7\n,7\n"Rex,7\nMia,8\nTom,9\n'),
  );
  assertEquals(causes.map((some) => some.map(({ row }) => row.line)), [[8], [6, 7], [2]]);
});

Deno.test("causesOf() groups lines by their faults, and says whether a category is all that they need", () => {
  const leftOut = leftOutOf(
    "name,category\nA,\nB,Birds\nC,7.5\nD,bi\u200brds\n,Birds\nE,\nF,bird 7\nG,BIRDS\nH,7\n",
  );
  const causes = causesOf(leftOut).map((some) => [
    some[0].fault,
    some[0].needsOnlyCategory && some[0].newCategory,
    some.map(({ row }) => row.line),
  ]);
  assertEquals(causes, [
    ["There is no category “Birds”", "Birds", [3, 5, 9]],
    ["Category is missing", undefined, [2, 7]],
    ["There is no category “7.5”", undefined, [4]],
    ["Name is missing; There is no category “Birds”", false, [6]],
    ["There is no category “bird 7”", "bird 7", [8]],
  ]);
});

Deno.test("newCategoriesOf() has each missing category once, whatever else is wrong with its lines", () => {
  const leftOut = leftOutOf(
    "name,category,status\n,Birds,\nA,bi\u200brds,\nB,Fish,lost\n,7,\nC,7,lost\nD,Snakes,\nE,9.0072E+15,\nF,7.5,\n",
  );
  assertEquals(newCategoriesOf(leftOut), ["Birds", "Fish", "Snakes"]);
});
