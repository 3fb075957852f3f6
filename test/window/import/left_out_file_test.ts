import { assertEquals } from "@std/assert";
import { parseCsv } from "../../../src/window/csv/parse_csv.ts";
import { draftOf, planOf } from "../../../src/window/import/draft.ts";
import { leftOutFile } from "../../../src/window/import/left_out_file.ts";

const readFile = (text: string) => {
  const draft = draftOf("animals.csv", new TextEncoder().encode(text));
  return { table: draft.table, plan: planOf(draft, undefined)! };
};

Deno.test("leftOutFile() has each line that is left out, with its number and its reason", () => {
  const { table, plan } = readFile(
    'Name;Colour;Category\nRex;red;x\nOk;;7\n"Mia"a;blue;8\n\'=1;=2;-a\nTom;;7;more\nZoe;"a\nb";x\n"Bo;;7\nMia;;8\n',
  );
  const text = leftOutFile(table.titles, plan.leftOut).join("");
  assertEquals(parseCsv(text).map(({ cells }) => cells), [
    ["Name", "Colour", "Category", "Line", "Reason"],
    ["Rex", "red", "x", "2", "There is no category “x”"],
    ['"Mia"a;blue;8', "", "", "4", "The line has text after a closing quote"],
    ["'=1", "'=2", "'-a", "5", "There is no category “-a”"],
    ["Tom", "", "7", "6", "The line has more cells than the first line"],
    ["Zoe", "a\nb", "x", "7", "There is no category “x”"],
    [
      '"Bo;;7\nMia;;8',
      "",
      "",
      "9–10",
      "Line 9 has a quote that is open to the end of the file. Close or delete it, and choose the file again",
    ],
  ]);
});

Deno.test("leftOutFile() is read by an import once its lines are corrected", () => {
  const { table, plan } = readFile("name,category\n'=1,x\nRex,7\n");
  const corrected = leftOutFile(table.titles, plan.leftOut).join("").replace(",x,", ",7,");
  const [entry] = readFile(corrected).plan.entries;
  assertEquals(entry.kind === "addition" && entry.pet.name, "=1");
});
