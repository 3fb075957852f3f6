import { assertEquals } from "@std/assert";
import { csvLine, parseCsv, withFormula, withoutFormula } from "../../../src/http/window/csv.js";

const cellsOf = (text: string) => parseCsv(text).map(({ cells }: { cells: string[] }) => cells);

Deno.test("parseCsv() reads quotes, line breaks and byte order marks as RFC 4180 and spreadsheets write them", () => {
  const cases: [string, string[][]][] = [
    ["a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]],
    ["\ufeffa,b\n1,2", [["a", "b"], ["1", "2"]]],
    ["a,b\r1,2\r", [["a", "b"], ["1", "2"]]],
    ['"a","b"\n"x, ""y""","1\r\n2"\n', [["a", "b"], ['x, "y"', "1\r\n2"]]],
    ["a;b,c;d\n1;2,5;3\n", [["a", "b,c", "d"], ["1", "2,5", "3"]]],
    ['"a,b,c";d\n1;2\n', [["a,b,c", "d"], ["1", "2"]]],
    ["a\tb\n1\t2\n", [["a", "b"], ["1", "2"]]],
    ["a,b\n\n,\n1,\n", [["a", "b"], ["1", ""]]],
    ["name\nRex\n", [["name"], ["Rex"]]],
    ['a\n"b"\n', [["a"], ["b"]]],
    ["", []],
  ];
  for (const [text, rows] of cases) assertEquals(cellsOf(text), rows, text);
});

Deno.test("parseCsv() tells the line on which each row begins, and what is wrong with it", () => {
  const text = 'a,b\r\n"1\n2",x\r\n"open,y\r\n"z"z,1\n\nlast,2\n';
  const rows = parseCsv(text);
  const found = rows.map(({ line, fault }: { line: number; fault?: string }) => [line, fault]);
  assertEquals(found, [
    [1, undefined],
    [2, undefined],
    [4, "has text after a closing quote"],
    [7, undefined],
  ]);
  assertEquals(parseCsv('a\n"open\nb\n').map(({ fault }: { fault?: string }) => fault), [
    undefined,
    "has a quote that is never closed",
    undefined,
  ]);
});

Deno.test("parseCsv() reads what csvLine() writes, and no spreadsheet runs it", () => {
  const names = [
    "Rex",
    'a "b"',
    "a,b;c\td",
    " x ",
    "1\r\n2",
    "=1+1",
    "'=1",
    "''@x",
    "'",
    "-",
    "+4",
    "\tx",
    "\nx",
    "＝1",
    "＠x",
  ];
  for (const name of names) {
    const safe = withoutFormula(name);
    assertEquals(/^[=+\-@\t\r\n＝＋－＠]/.test(safe), false);
    const [[cell]] = cellsOf(csvLine([safe, "7"]));
    assertEquals(withFormula(cell), name);
  }
});
