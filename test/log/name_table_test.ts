import { assertEquals, assertThrows } from "@std/assert";
import { NAMES_LIMIT, NameTable } from "../../src/log/name_table.ts";

Deno.test("NameTable distinguishes names with the same slot or the same last word", () => {
  const table = new NameTable();
  const names = [[0, 0, 0, 7], [0, 0, 1, 7], [9, 0, 0, 7], [0, 0, 0, 7 + 2 ** 11], [0, 0, 0, 0]]
    .map((words) => Uint32Array.from(words));
  assertEquals(names.map((name) => table.find(name)), [-1, -1, -1, -1, -1]);
  assertEquals(names.map((name) => table.add(name)), [0, 1, 2, 3, 4]);
  assertEquals(names.map((name) => table.find(name)), [0, 1, 2, 3, 4]);
  assertEquals(names.map((name) => table.add(name)), [0, 1, 2, 3, 4]);
  assertEquals(table.count, 5);
});

Deno.test("NameTable holds as many names as its limit, and refuses one more", () => {
  const table = new NameTable();
  const name = (number: number) => Uint32Array.of(0, 0, number, Math.imul(number, 0x9e3779b1));
  for (let number = 0; number < NAMES_LIMIT; number++) table.add(name(number));
  assertEquals(table.count, NAMES_LIMIT);
  for (let number = 0; number < NAMES_LIMIT; number += 997) {
    assertEquals(table.find(name(number)), number);
  }
  assertEquals(table.find(name(NAMES_LIMIT)), -1);
  assertThrows(() => table.add(name(NAMES_LIMIT)), RangeError, "The table is full");
});
