import { packLines, unpackLines } from "../../src/eventstore_less/encoding/pack_lines.ts";
import { assertEquals } from "@std/assert";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const LIMIT = 900;

function pack(lines: string[]): [count: number, text: string][] {
  return packLines(lines.map((line) => encoder.encode(line)), LIMIT)
    .map(({ count, value }) => [count, decoder.decode(value)]);
}

Deno.test("packLines() joins lines, each with a line feed, and splits only before one that does not fit or beside a longer one", () => {
  assertEquals(pack(["a", "bc", "ü"]), [[3, "a\nbc\nü\n"]]);
  const half = LIMIT / 2 - 1;
  const cases: [lengths: number[], counts: number[]][] = [
    [[half, half], [2]],
    [[half, half + 1], [1, 1]],
    [[half, half - 2, 1, 1, half], [3, 2]],
    [[LIMIT - 1, 1], [1, 1]],
    [[1, LIMIT, LIMIT, 1, 1], [1, 1, 1, 2]],
    [[], []],
  ];
  for (const [lengths, counts] of cases) {
    const packed = pack(lengths.map((length) => "x".repeat(length)));
    assertEquals(packed.map(([count]) => count), counts, String(lengths));
  }
});

Deno.test("unpackLines() returns the lines that packLines() packed", () => {
  for (const lines of [["a"], ["a", "bc", "ü"], Array(300).fill("line")]) {
    const [{ value }] = packLines(lines.map((line) => encoder.encode(line)), 10_000);
    assertEquals(unpackLines(value)!.map((line) => decoder.decode(line)), lines);
  }
});

Deno.test("unpackLines() refuses what packLines() cannot have written", () => {
  for (const text of ["", "a", "a\nb", "\n", "a\n\n", "\na\n", "a\n\nb\n"]) {
    assertEquals(unpackLines(encoder.encode(text)), undefined, JSON.stringify(text));
  }
  for (const value of [undefined, null, "a\n", 7, [97, 10]]) {
    assertEquals(unpackLines(value), undefined);
  }
});
