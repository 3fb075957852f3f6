import { assertEquals } from "@std/assert";
import { parseCsv } from "../../../src/window/csv/parse_csv.ts";
import { Random } from "../../sim/random.ts";

const cellsOf = (text: string) => parseCsv(text).map(({ cells }) => cells);

/** The rows after the first, each as its lines, and its fault or its cells. */
const rowsOf = (text: string) =>
  parseCsv(text).slice(1).map((
    { line, lastLine, cells, fault },
  ) => [line, lastLine, fault ?? cells]);

const OPEN =
  "has a quote that is open to the end of the file. Close or delete it, and choose the file again";
const MORE = "has text after a closing quote";

Deno.test("parseCsv() reads quotes, line breaks and byte order marks as RFC 4180 and spreadsheets write them", () => {
  const cases: [string, string[][]][] = [
    ["a,b\r\n1,2\r\n", [["a", "b"], ["1", "2"]]],
    ["\ufeffa,b\n1,2", [["a", "b"], ["1", "2"]]],
    ["a,b\r1,2\r", [["a", "b"], ["1", "2"]]],
    ['"a","b"\n"x, ""y""","1\r\n2"\n', [["a", "b"], ['x, "y"', "1\r\n2"]]],
    ["a;b,c;d\n1;2,5;3\n", [["a", "b,c", "d"], ["1", "2,5", "3"]]],
    ['"a,b,c";d\n1;2\n', [["a,b,c", "d"], ["1", "2"]]],
    ["a\tb\n1\t2\n", [["a", "b"], ["1", "2"]]],
    ["a|b\n1|2,3\n", [["a", "b"], ["1", "2,3"]]],
    ["a,b\n\n,\n , \n1,\n", [["a", "b"], ["1", ""]]],
    ["\n\na;b\n1;2\n", [["a", "b"], ["1", "2"]]],
    ["name\nRex\n", [["name"], ["Rex"]]],
    ['a\n"b"\n', [["a"], ["b"]]],
    ['a,b\n5" tall,"6"" tall"\n', [["a", "b"], ['5" tall', '6" tall']]],
    ["", []],
    ["\r\n \n", []],
  ];
  for (const [text, rows] of cases) assertEquals(cellsOf(text), rows, text);
});

Deno.test("parseCsv() takes the separator from a first line that names it", () => {
  const cases: [string, string[][]][] = [
    ["sep=;\r\na;b\r\n1,5;2\r\n", [["a", "b"], ["1,5", "2"]]],
    ["\ufeffSEP=|\na,b,c|d\n", [["a,b,c", "d"]]],
    ['"sep=;"\na;b\n', [["a", "b"]]],
    ["sep=,,,\na,b\n", [["a", "b"]]],
    ["sep=\t\na\tb;c;d\n", [["a", "b;c;d"]]],
    ["sep=:\na:b\n", [["a", "b"]]],
    ["sep=;", []],
    ["sep,name\n1,2\n", [["sep", "name"], ["1", "2"]]],
    ["sep=x,name\n1,2\n", [["sep=x", "name"], ["1", "2"]]],
  ];
  for (const [text, rows] of cases) assertEquals(cellsOf(text), rows, text);
  assertEquals(parseCsv("sep=;\na;b\n1;2\n").map(({ line }) => line), [2, 3]);
});

Deno.test("parseCsv() reads quotes with blanks around them", () => {
  const text =
    'Category, Name, Status\n7, "Rex" , "available"\n8,\t"Socks, the cat",\u00a0\u3000"a ""b"""  \n';
  assertEquals(cellsOf(text).slice(1), [
    ["7", "Rex", "available"],
    ["8", "Socks, the cat", 'a "b"'],
  ]);
  assertEquals(cellsOf('a\tb\n"1"\t"2"\n\t"3"\n'), [["a", "b"], ["1", "2"], ["", "3"]]);
});

Deno.test("parseCsv() names the lines of each row, with their text", () => {
  const rows = parseCsv('a,b\r\n"1\n2",x\r\n\r\n"3",y\r\n');
  assertEquals(rows.map(({ line, lastLine, text }) => [line, lastLine, text]), [
    [1, 1, "a,b"],
    [2, 3, '"1\n2",x'],
    [5, 5, '"3",y'],
  ]);
});

Deno.test("parseCsv() takes whatever is within quotes for one cell", () => {
  const text = 'Name,Category,Notes\r\nBella,Dogs,"Good with children.\r\n' +
    'Loves cats, dogs, and long walks"\r\nMilo,Cats,"Shy ""at"" first\nMia,8,fine"\r\n';
  assertEquals(rowsOf(text), [
    [2, 3, ["Bella", "Dogs", "Good with children.\r\nLoves cats, dogs, and long walks"]],
    [4, 5, ["Milo", "Cats", 'Shy "at" first\nMia,8,fine']],
  ]);
});

Deno.test("parseCsv() reads each file that has any texts between quotes", () => {
  const random = new Random(4);
  const parts = ["a", '"', ",", ";", "\r\n", "\n", "\r", " ", "'"];
  const textOf = () => Array.from({ length: 6 }, () => random.pick(parts)).join("");
  for (let round = 0; round < 5_000; round++) {
    const rows = Array.from({ length: 4 }, (_, row) => [`${row}`, textOf(), textOf()]);
    const quoted = rows.map((cells) => cells.map((it) => `"${it.replaceAll('"', '""')}"`).join());
    assertEquals(cellsOf(["a,b,c", ...quoted].join("\n")), [["a", "b", "c"], ...rows]);
  }
});

Deno.test("parseCsv() makes no cells of a row whose quotes are not sound, and names its lines", () => {
  const cases: [string, ReturnType<typeof rowsOf>][] = [
    ['a,b\nOk,1\n"Rex,7\nMia,8\nZoe,9\n', [[2, 2, ["Ok", "1"]], [3, 5, OPEN]]],
    ['a,b\n"Rex,7\nMia,8\n"Socks, the cat",9\nTom,1\n', [[2, 4, MORE], [5, 5, ["Tom", "1"]]]],
    ['a,b\n"z"z,1\n\nlast,2\n', [[2, 2, MORE], [4, 4, ["last", "2"]]]],
    ['a,b\nBo,"x" y,1\nlast,2\n', [[2, 2, MORE], [3, 3, ["last", "2"]]]],
    ['a,b\n"x\ny" z,"1\n2"\nlast,2\n', [[2, 4, MORE], [5, 5, ["last", "2"]]]],
    ['a,b\n"x"y,"1\n2', [[2, 3, OPEN]]],
  ];
  for (const [text, rows] of cases) assertEquals(rowsOf(text), rows, text);
});

Deno.test("parseCsv() names the line whose quote is open to the end", () => {
  const cases: [string, number][] = [
    ['a,b\nOk,1\n"Rex,7\nMia,8\n', 3],
    ['a,b\n"x\ny","1\n2\n', 3],
    ['a\tb\r\n"x"y\t"1\r\n2\t\n', 2],
  ];
  for (const [text, line] of cases) assertEquals(parseCsv(text).at(-1)?.openQuoteLine, line, text);
});

Deno.test("parseCsv() accounts for every line, wherever a quote is inserted or lost", () => {
  const text =
    'name,category,status\nRex,7,sold\n"Socks, the cat",8,\n"a\nb",9,sold\n"x ""y""",1,\nMia,2,\n';
  const variants = Array.from(text, (character, index) => [
    text.slice(0, index) + '"' + text.slice(index),
    character === '"' ? text.slice(0, index) + text.slice(index + 1) : text,
  ]).flat();
  for (const variant of variants) {
    const rows = parseCsv(variant);
    const lines = rows.map(({ text }) => text).join("\n");
    assertEquals(lines, variant.trimEnd());
    assertEquals(rows.at(-1)?.lastLine, variant.trimEnd().split("\n").length);
  }
});
