import { assertEquals } from "@std/assert";
import { packLines, unpackLines } from "../../src/encoding/pack_lines.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function pack(lines: string[], limitBytes: number): [count: number, text: string][] {
  return packLines(lines.map((line) => encoder.encode(line)), limitBytes)
    .map(({ count, value }) => [count, decoder.decode(value)]);
}

Deno.test("packLines() joins lines, each with a line feed", () => {
  assertEquals(pack(["a", "bc", "ü"], 100), [[3, "a\nbc\nü\n"]]);
  assertEquals(pack([], 100), []);
});

Deno.test("packLines() splits only where the next line does not fit", () => {
  assertEquals(pack(["aaa", "bb", "c", "dddd"], 8), [[2, "aaa\nbb\n"], [2, "c\ndddd\n"]]);
  assertEquals(pack(["aaaa", "bbbb"], 5), [[1, "aaaa\n"], [1, "bbbb\n"]]);
  assertEquals(pack(["aaa", "bbb"], 8), [[2, "aaa\nbbb\n"]]);
});

Deno.test("unpackLines() returns the lines that packLines() packed", () => {
  for (
    const lines of [
      ["a"],
      ["a", "bc", "ü"],
      Array.from({ length: 300 }, (_, i) => `line ${i}`),
    ]
  ) {
    const [{ value }] = packLines(lines.map((line) => encoder.encode(line)), 65_536);
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
