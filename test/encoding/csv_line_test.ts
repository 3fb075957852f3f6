import { assert, assertEquals } from "@std/assert";
import { csvLine, withoutMarks } from "../../src/encoding/csv_line.ts";
import { parseCsv } from "../../src/window/csv/parse_csv.ts";
import { Random } from "../sim/random.ts";

/** The text of a cell in a file, without its quotes. */
function written(text: string): string {
  const cell = csvLine([text]).slice(0, -2);
  return cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
}

Deno.test("csvLine() marks each part of a text that begins like a formula, and no other text", () => {
  const cases: [text: string, cell: string][] = [
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-1", "'-1"],
    ["@x", "'@x"],
    ["＝1", "'＝1"],
    ["＠x", "'＠x"],
    [" =1", "' =1"],
    ["'=1", "''=1"],
    ["\t=1", "'\t'=1"],
    ["\r=1", "'\r'=1"],
    ["\n=1", "'\n'=1"],
    ["\r\n=1", "'\r\n'=1"],
    ["Snakes;=1+1;old", "Snakes;'=1+1;old"],
    ["Snakes|=1", "Snakes|'=1"],
    ["Snakes\t=1", "Snakes\t'=1"],
    ["Snakes\n=1", "Snakes\n'=1"],
    ["Snakes\r=1", "Snakes\r'=1"],
    ["Snakes\r\n=1", "Snakes\r\n'=1"],
    ["Snakes; =1", "Snakes;' =1"],
    ["Snakes;\tx", "Snakes;'\tx"],
    // Otherwise, the reader would take the cell for a quoted one that is empty, and a formula for its rest.
    ['Snakes;"=1;old', "Snakes;'\"=1;old"],
    ["Snakes;", "Snakes;'"],
    ["Rex, a=b", "Rex, a=b"],
    ["Rex; Mia\r\n7|x\ty", "Rex; Mia\r\n7|x\ty"],
    ['"Rex" \'s dog', '"Rex" \'s dog'],
    ["'", "'"],
    ["", ""],
  ];
  for (const [text, cell] of cases) {
    assertEquals(written(text), cell);
    assertEquals(withoutMarks(cell), text);
  }
  assertEquals(csvLine([-7, 12n, "x"]), "-7,12,x\r\n");
});

/** The cells of a text as a spreadsheet reads them: a quote opens a quoted part only at the start of a cell. */
function cellsOf(text: string, separator: string, skipsBlanks: boolean): string[] {
  const cells: string[] = [];
  let index = 0;
  while (index < text.length) {
    let cell = "";
    while (skipsBlanks && /[^\S\t\r\n]/.test(text[index])) index++;
    if (text[index] === '"') {
      const [whole, quoted] = /^"((?:[^"]|"")*)"?/.exec(text.slice(index))!;
      cell = quoted.replaceAll('""', '"');
      index += whole.length;
    }
    while (index < text.length && ![separator, "\r", "\n"].includes(text[index])) {
      cell += text[index];
      index++;
    }
    index += text.startsWith("\r\n", index) ? 2 : 1;
    cells.push(cell);
  }
  return cells;
}

const PARTS = [..."=+-@＝\"' \u00a0\t,;|\r\na"];

function randomTexts(random: Random, parts: readonly string[]): string[] {
  const text = () =>
    Array.from({ length: random.integer(0, 8) }, () => random.pick(parts)).join("");
  return Array.from({ length: 5 }, text);
}

Deno.test("No reader finds a formula in what csvLine() writes, whatever the texts and the separator", () => {
  const random = new Random(1);
  for (let round = 0; round < 20_000; round++) {
    const rows = [randomTexts(random, PARTS), randomTexts(random, PARTS)];
    const file = rows.map(csvLine).join("");
    for (const separator of [",", ";", "\t", "|"]) {
      for (const skipsBlanks of [false, true]) {
        const unsafe = cellsOf(file, separator, skipsBlanks)
          .find((cell) => /^(?:[\t\r\n]|\s*[=+\-@＝＋－＠])/.test(cell));
        assert(
          unsafe === undefined,
          JSON.stringify({ rows, file, separator, skipsBlanks, unsafe }),
        );
      }
    }
  }
});

Deno.test("withoutMarks() returns each random text that csvLine() has written and parseCsv() has read", () => {
  const random = new Random(2);
  const titles = csvLine(["id", "a", "b", "c", "d", "e"]);
  for (let round = 0; round < 20_000; round++) {
    const texts = randomTexts(random, PARTS);
    const [, { cells }] = parseCsv(titles + csvLine([round, ...texts]));
    assertEquals(cells.map(withoutMarks), [String(round), ...texts]);
  }
});
