import { assertEquals, assertMatch } from "@std/assert";
import { planImport } from "../../../src/http/window/import_plan.js";

/** The module is JavaScript, so the types of its plans are not known. */
// deno-lint-ignore no-explicit-any
const plan = (content: string | Uint8Array<ArrayBuffer>): Promise<any> =>
  planImport(new File([content], "animals.csv"));

Deno.test("planImport() finds the columns by their names, in any case and order", async () => {
  const { columns, entries, faults, hash } = await plan(
    "\ufeffSTATUS;Colour;category_ID;Name;id\r\nSold;red; 007 ;Rex;12\r\n;;+8;Mia;\r\nNo status;;-1;'=1;\r\n",
  );
  assertEquals(columns.map(({ field }: { field?: string }) => field), [
    "status",
    undefined,
    "categoryId",
    "name",
    "id",
  ]);
  assertEquals(entries, [
    { line: 2, pet: { name: "Rex", categoryId: "7", status: "sold" } },
    { line: 3, pet: { name: "Mia", categoryId: "8", status: undefined } },
    { line: 4, pet: { name: "=1", categoryId: "-1", status: undefined } },
  ]);
  assertEquals(faults, []);
  assertMatch(hash, /^[0-9a-f]{64}$/);
});

Deno.test("planImport() tells the faults by their lines", async () => {
  const { entries, faults } = await plan(
    'name,category,status\nRex,x,\n,7,\nMia,9223372036854775808,\nZoe,7,lost\nMax,7,,more\n"Bo"o,7,\nOk,7\n',
  );
  assertEquals(faults, [
    { line: 2, fault: "Category must be a whole number" },
    { line: 3, fault: "Name is missing" },
    { line: 4, fault: "Category is too large" },
    { line: 5, fault: "Status must be one of available, pending, sold" },
    { line: 6, fault: "The line has more cells than the first line" },
    { line: 7, fault: "The line has text after a closing quote" },
  ]);
  assertEquals(entries.map(({ line }: { line: number }) => line), [8]);
});

Deno.test("planImport() refuses a file that is empty or whose first line names no columns", async () => {
  const cases = [
    ["", /^The file is empty$/],
    ["Rex,7,sold\n", /names no column "Name"/],
    ["name,kind\nRex,7\n", /names no column "Category"/],
    ["name,Name,category\n", /^The first line names "Name" twice$/],
    ['name,"category\n', /^Line 1 has a quote that is never closed$/],
  ] as const;
  for (const [text, message] of cases) assertMatch((await plan(text)).fault, message);
});

Deno.test("planImport() reads the encodings of spreadsheets", async () => {
  const text = "name,category\nZoë,7\n";
  const latin = Uint8Array.from(text, (it) => it.charCodeAt(0));
  const wide = new Uint8Array(Uint16Array.from(`\ufeff${text}`, (it) => it.charCodeAt(0)).buffer);
  for (const content of [text, latin, wide]) {
    const { entries: [{ pet }] } = await plan(content);
    assertEquals(pet.name, "Zoë");
  }
});
