import { assertEquals } from "@std/assert";
import { utf8 } from "../../support/utf8.ts";
import { LINE_LIMIT_BYTES, splitLines } from "../../../src/eventstore_less/log/lines.ts";
import { linesToBytes, sampleLog } from "../../support/sample_log.ts";

const LINES = sampleLog(45);

Deno.test("splitLines() yields the same lines for any chunks", async () => {
  const bytes = linesToBytes(LINES);
  for (const size of [1, 7, 100, 4_096, bytes.length]) {
    assertEquals(await linesOf(chunksOf(bytes, size)), LINES);
  }
  const unended = bytes.subarray(0, -1);
  assertEquals(await linesOf(chunksOf(unended, 50)), LINES);
});

Deno.test("splitLines() truncates a line just beyond its limit, also if the line never ends", async () => {
  const text = `first\n${"A".repeat(10 * LINE_LIMIT_BYTES)}\nlast\n`;
  for (const size of [9_999, text.length]) {
    const lines = (await Array.fromAsync(splitLines(chunksOf(utf8(text), size)))).flat();
    assertEquals(lines.map(({ length }) => length), [5, LINE_LIMIT_BYTES + 1, 4]);
  }
  const longest =
    (await Array.fromAsync(splitLines([utf8(`${"A".repeat(LINE_LIMIT_BYTES)}\nlast`)]))).flat();
  assertEquals(longest.map(({ length }) => length), [LINE_LIMIT_BYTES, 4]);
  const { value } = await splitLines(zeros()).next();
  assertEquals(value?.map(({ length }) => length), [LINE_LIMIT_BYTES + 1]);
});

function* zeros(): Generator<Uint8Array> {
  for (;;) yield new Uint8Array(9_999);
}

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) {
    yield await Promise.resolve(bytes.subarray(start, start + size));
  }
}

async function linesOf(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const batches = await Array.fromAsync(splitLines(chunks));
  return batches.flat().map((line) => new TextDecoder().decode(line));
}
