import { assertEquals } from "@std/assert";
import { guessColumns } from "../../../src/window/import/columns.ts";
import { planAdditions } from "../../../src/window/import/plan.ts";
import { previewSample } from "../../../src/window/import/preview_sample.ts";
import { readTable } from "../../../src/window/import/table.ts";

Deno.test("previewSample() has the first lines, and some that show whether the encoding and the quotes are right", () => {
  const names = Array.from({ length: 40 }, (_, index) => `Animal ${index}`);
  names[20] = "Zoë";
  names[22] = '"two\nlines"';
  for (let index = 25; index < 40; index++) names[index] = `Łatka ${index}`;
  const text = ["name,category", ...names.map((name) => `${name},7`)].join("\n");
  const table = readTable(new TextEncoder().encode(text));
  const { entries } = planAdditions(table, guessColumns(table.titles));
  const indices = previewSample(entries).map((entry) => entries.indexOf(entry));
  assertEquals(indices, [0, 1, 2, 3, 4, 20, 22, 25, 26, 27, 28, 29, 30, 31, 32]);
});
