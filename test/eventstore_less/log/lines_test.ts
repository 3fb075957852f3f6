import { assertEquals } from "@std/assert";
import { LINE_LIMIT_BYTES, splitLines } from "eventstore-less/log/lines.ts";
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

Deno.test("splitLines() truncates a line just beyond its limit", async () => {
  const bytes = new Uint8Array(10 * LINE_LIMIT_BYTES).fill(65);
  bytes[bytes.length - 2] = 10;
  const lines = (await Array.fromAsync(splitLines(chunksOf(bytes, 9_999)))).flat();
  assertEquals(lines.map(({ length }) => length), [LINE_LIMIT_BYTES + 1, 1]);
});

async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) {
    yield await Promise.resolve(bytes.subarray(start, start + size));
  }
}

async function linesOf(chunks: AsyncIterable<Uint8Array>): Promise<string[]> {
  const batches = await Array.fromAsync(splitLines(chunks));
  return batches.flat().map((line) => new TextDecoder().decode(line));
}
