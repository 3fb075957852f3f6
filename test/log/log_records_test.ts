import { assertEquals } from "@std/assert";
import { linesOf, logMutations } from "../../src/log/log_records.ts";
import { LINE_LIMIT_BYTES } from "../../src/log/log_verifier.ts";
import { LOG_RECORD_LIMIT_BYTES, logKey } from "../../src/keyspace.ts";

const lineOf = (length: number) => new Uint8Array(length).fill(120);

Deno.test("logMutations() writes one record under its last position, and splits only at the limit of packed lines", () => {
  const half = LOG_RECORD_LIMIT_BYTES / 2 - 1;
  const cases: [lengths: number[], lasts: number[]][] = [
    [[1], [7]],
    [[1, 2, 3], [9]],
    [[half, half], [8]],
    [[half, half, 1], [8, 9]],
    [[half, half + 1], [7, 8]],
    [[LOG_RECORD_LIMIT_BYTES - 1, 1], [7, 8]],
    [[1, LINE_LIMIT_BYTES, 1], [7, 8, 9]],
    [[], []],
  ];
  for (const [lengths, lasts] of cases) {
    const lines = lengths.map(lineOf);
    const mutations = logMutations(7, lines);
    assertEquals(mutations.map(({ key }) => key), lasts.map(logKey));
    const stored = mutations.flatMap(({ key, value }) => linesOf(key[1] as number, value)!);
    const expected = lines.map((line, index) => ({ position: 7 + index, line }));
    assertEquals(stored, expected, String(lengths));
  }
});

Deno.test("linesOf() refuses what logMutations() does not write", () => {
  const values = [
    "x\n",
    new Uint8Array(),
    Uint8Array.of(120),
    Uint8Array.of(10),
    Uint8Array.of(120, 10, 10),
    Uint8Array.of(10, 120, 10),
    Uint8Array.of(120, 10, 120),
  ];
  for (const value of values) assertEquals(linesOf(9, value), undefined);
  assertEquals(linesOf(1, Uint8Array.of(120, 10, 120, 10)), undefined, "more lines than positions");
});
