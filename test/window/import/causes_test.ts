import { assertEquals } from "@std/assert";
import { causesOf } from "../../../src/window/import/causes.ts";
import { guessColumns } from "../../../src/window/import/columns.ts";
import { planAdditions } from "../../../src/window/import/plan.ts";
import { readTable } from "../../../src/window/import/table.ts";

Deno.test("causesOf() begins with the most lines, of which a row may have several", () => {
  const file = 'name,category\n,7\n,7\n"Rex,7\nMia,8\nTom,9\n';
  const table = readTable(new TextEncoder().encode(file));
  const causes = causesOf(planAdditions(table, guessColumns(table.titles)).leftOut);
  assertEquals(causes.map((some) => some.map(({ row }) => row.line)), [[4], [2, 3]]);
});

Deno.test("causesOf() groups lines by their faults, and has a category that would be all they need", () => {
  const file =
    "name,category\nA,\nB,Birds\nC,7.5\nD,bi\u200brds\n,Birds\nE,\nF,bird 7\nG,BIRDS\nH,7\n";
  const table = readTable(new TextEncoder().encode(file));
  const { leftOut } = planAdditions(table, guessColumns(table.titles));
  const causes = causesOf(leftOut).map((some) => [
    some[0].fault,
    some[0].newCategory,
    some.map(({ row }) => row.line),
  ]);
  assertEquals(causes, [
    ["There is no category “Birds”", "Birds", [3, 5, 9]],
    ["Category is missing", undefined, [2, 7]],
    ["There is no category “7.5”", undefined, [4]],
    ["Name is missing; There is no category “Birds”", undefined, [6]],
    ["There is no category “bird 7”", "bird 7", [8]],
  ]);
});
