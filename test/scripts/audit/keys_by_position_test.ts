import { assertEquals } from "@std/assert";
import { KeysByPosition } from "../../../scripts/audit/keys_by_position.ts";

Deno.test("KeysByPosition.take() finds each key once, and only at its position", () => {
  const keys = new KeysByPosition();
  const positions = [1, 2, 4_095, 4_096, 4_097, 5_000_000_000];
  for (const position of positions) keys.add(position, ["key", position]);
  for (const position of positions) {
    assertEquals(keys.take(position, ["other", position]), false);
    assertEquals(keys.take(position + 4_096, ["key", position]), false);
    assertEquals(keys.take(position, ["key", position]), true);
    assertEquals(keys.take(position, ["key", position]), false, "it was removed");
  }
});

Deno.test("KeysByPosition.take() finds nothing at a position without a key", () => {
  const keys = new KeysByPosition();
  assertEquals(keys.take(7, ["key", 7]), false);
  keys.add(7, ["key", 7]);
  assertEquals(keys.take(8, ["key", 7]), false);
});

Deno.test("KeysByPosition distinguishes keys by the types of their parts", () => {
  const keys = new KeysByPosition();
  keys.add(1, ["key", 1]);
  for (const key of [["key", "1"], ["key", 1, ""], ["key1"]]) {
    assertEquals(keys.take(1, key), false);
  }
  assertEquals(keys.take(1, ["key", 1]), true);
});
