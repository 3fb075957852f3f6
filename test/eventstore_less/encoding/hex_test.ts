import { assertEquals } from "@std/assert";
import { bytesOfHex, hexOf } from "../../../src/eventstore_less/encoding/hex.ts";

Deno.test("hexOf() and bytesOfHex() are inverse, also for a part of a buffer", () => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index).subarray(7);
  const hex = hexOf(bytes);
  assertEquals(hex.slice(0, 8), "0708090a");
  assertEquals(hex.length, 2 * 249);
  assertEquals(bytesOfHex(hex), new Uint8Array(bytes));
  assertEquals([hexOf(new Uint8Array()), bytesOfHex("").length], ["", 0]);
});
