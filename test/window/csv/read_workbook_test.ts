import { assertEquals, assertRejects } from "@std/assert";
import { readWorkbook, type Workbook } from "../../../src/window/csv/read_workbook.ts";
import { filesOfWorkbook, rowOf, workbookOf } from "../../support/workbook_of.ts";
import { zipOf } from "../../support/zip_of.ts";

const cellsOf = ({ rows }: Workbook) => rows.map(({ line, cells }) => [line, ...cells]);

Deno.test("readWorkbook() reads texts, numbers, dates, truths, errors and the values of formulas, and no empty cell", async () => {
  const rows = rowOf(1, ["Name", "Category"]) +
    '<row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2"><v>7</v></c></row>' +
    '<row r="3"><c r="A3" s="1"><v>45323</v></c><c r="B3" s="2"><v>45323.4375</v></c>' +
    '<c r="C3" s="2"><v>0.4375</v></c></row>' +
    '<row r="5"><c r="B5" t="str"><f>A2&amp;"!"</f><v>Rex!</v></c><c r="C5"><f>1+1</f><v>2</v></c>' +
    '<c r="D5"><f>1+1</f></c><c r="E5" t="b"><v>1</v></c><c r="F5" t="e"><v>#N/A</v></c></row>' +
    '<row r="6"><c r="A6"/></row>' +
    '<row r="7"><c r="A7"><v>0.30000000000000004</v></c><c r="B7"><v>-3.5</v></c>' +
    '<c r="C7"><v>999999999999999</v></c><c r="D7"><v>9.00719925474099E+15</v></c>' +
    '<c r="E7"><v>1E-7</v></c></row>' +
    rowOf(8, ["Zo&#235; &lt;3", "two&#10;lines"]);
  assertEquals(cellsOf(await readWorkbook(workbookOf([{ name: "Pets", rows }], ["a", "Rex"]))), [
    [1, "Name", "Category"],
    [2, "Rex", "", "7"],
    [3, "2024-02-01", "2024-02-01 10:30", "10:30"],
    [5, "", "Rex!", "2", "", "TRUE", "#N/A"],
    [7, "0.3", "-3.5", "999999999999999", "9.00719925474099E+15", "1e-7"],
    [8, "Zoë <3", "two\nlines"],
  ]);
});

Deno.test("readWorkbook() reads the first sheet with lines, or the chosen one, and names those that people see", async () => {
  const bytes = workbookOf([
    { name: "Chart", rows: "", isChart: true },
    { name: "Secret", rows: rowOf(1, ["x"]) + rowOf(2, ["y"]), state: "hidden" },
    { name: "Nobody's", rows: rowOf(1, ["x"]) + rowOf(2, ["y"]), state: "veryHidden" },
    { name: "Cover", rows: rowOf(3, ["Our animals"]), state: "visible" },
    { name: "Dogs &amp; cats", rows: rowOf(1, ["Name"]) + rowOf(2, ["Rex"]) },
    { name: "Empty", rows: "" },
  ]);
  const first = await readWorkbook(bytes);
  assertEquals(first.sheetNames, ["Cover", "Dogs & cats", "Empty"]);
  assertEquals([first.sheet, cellsOf(first)], [1, [[1, "Name"], [2, "Rex"]]]);
  const cover = await readWorkbook(bytes, 0);
  assertEquals([cover.sheet, cellsOf(cover)], [0, [[3, "Our animals"]]]);
  const empty = await readWorkbook(bytes, 2);
  assertEquals([empty.sheet, empty.rows], [2, []]);
  const onlyCover = await readWorkbook(workbookOf([{ name: "A", rows: rowOf(1, ["x"]) }]));
  assertEquals([onlyCover.sheet, cellsOf(onlyCover)], [0, [[1, "x"]]]);
});

Deno.test("readWorkbook() reads 20,000 rows", async () => {
  const lines = Array.from({ length: 20_000 }, (_, index) => rowOf(index + 1, [`Pet ${index}`, 7]));
  const { rows } = await readWorkbook(workbookOf([{ name: "Pets", rows: lines.join("") }]));
  assertEquals([rows.length, rows.at(-1)?.cells], [20_000, ["Pet 19999", "7"]]);
});

Deno.test("readWorkbook() refuses a damaged workbook, one that is larger than it says, and one with too many cells", async () => {
  const damaged = "The workbook is damaged. Open it in your spreadsheet, and save it as CSV";
  const files = filesOfWorkbook([{ name: "Pets", rows: rowOf(1, ["x"]) }]);
  const without = files.filter(({ name }) => name !== "xl/worksheets/sheet1.xml");
  await assertRejects(() => readWorkbook(zipOf(without)), Error, damaged);
  for (const name of ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml"]) {
    const lying = files.map((file) => file.name === name ? { ...file, saidSize: 20 } : file);
    await assertRejects(() => readWorkbook(zipOf(lying)), Error, damaged);
  }
  // Each row has a cell in the last column of Excel.
  const wide = Array.from(
    { length: 400 },
    (_, row) => `<row><c r="XFD${row + 1}"><v>1</v></c></row>`,
  );
  const sparse = workbookOf([{ name: "Pets", rows: wide.join("") }]);
  await assertRejects(() => readWorkbook(sparse), Error, "The sheet has too many cells");
});
