import { assertEquals } from "@std/assert";
import { parseCsv } from "../../../src/window/csv/parse_csv.ts";

const cellsOf = (text: string) => parseCsv(text).map(({ cells }) => cells);

/** The rows after the first, each as its lines, and its fault or its cells. */
const rowsOf = (text: string) =>
  parseCsv(text).slice(1).map((
    { line, lastLine, cells, fault },
  ) => [line, lastLine, fault ?? cells]);

const LATE = (line: number) => `has a quote that is closed only in line ${line}`;
const OPEN = "has a quote that is never closed";
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

Deno.test("parseCsv() loses no other line to a stray quote", () => {
  const cases: [string, ReturnType<typeof rowsOf>][] = [
    // It is never closed.
    ['a,b\n"Rex,7\nMia,8\nZoe,9\n', [
      [2, 2, OPEN],
      [3, 3, ["Mia", "8"]],
      [4, 4, ["Zoe", "9"]],
    ]],
    // The next quote opens another cell.
    ['a,b\n"Rex,7\nMia,8\n"Socks, the cat",9\nTom,1\n', [
      [2, 2, MORE],
      [3, 3, ["Mia", "8"]],
      [4, 4, ["Socks, the cat", "9"]],
      [5, 5, ["Tom", "1"]],
    ]],
    // The next quote happens to be where one may close.
    ['a,b,c\nRex,7,"good\nMia,8,fine\nZoe,9,x"\nTom,8,ok\n', [
      [2, 2, LATE(4)],
      [3, 3, ["Mia", "8", "fine"]],
      [4, 4, ["Zoe", "9", 'x"']],
      [5, 5, ["Tom", "8", "ok"]],
    ]],
    ['a,b,c\n"Rex,7,available\nMia,8,available\nZoe,9,"\nTom,7,\n', [
      [2, 2, LATE(4)],
      [3, 3, ["Mia", "8", "available"]],
      [4, 4, OPEN],
      [5, 5, ["Tom", "7", ""]],
    ]],
    ['a,b\n"z"z,1\n\nlast,2\n', [[2, 2, MORE], [4, 4, ["last", "2"]]]],
    ['a,b\nBo,"x" y,1\nlast,2\n', [[2, 2, MORE], [3, 3, ["last", "2"]]]],
  ];
  for (const [text, rows] of cases) assertEquals(rowsOf(text), rows, text);
});

Deno.test("parseCsv() loses no line to a stray quote after a first line that is faulty, too", () => {
  const text = 'name,"category" x\na,1\nb,"2\nc,3\nd,4"\ne,5\n';
  assertEquals(rowsOf(text), [
    [2, 2, ["a", "1"]],
    [3, 3, LATE(5)],
    [4, 4, ["c", "3"]],
    [5, 5, ["d", '4"']],
    [6, 6, ["e", "5"]],
  ]);
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

Deno.test("parseCsv() reads a large file with a stray quote in each line within seconds", () => {
  const text = "a,b\n" + '"Rex,7\n'.repeat(200_000);
  const start = performance.now();
  assertEquals(parseCsv(text).length, 200_001);
  assertEquals(performance.now() - start < 10_000, true);
});
