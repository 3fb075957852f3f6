import { assertEquals } from "@std/assert";
import { animals, changesWait, grouped } from "../../../src/window/parts/count_words.ts";

Deno.test("numbers in sentences have a comma before every three digits, and one thing has no plural", () => {
  assertEquals([1, 999, 6_513, 1_000_000].map(grouped), ["1", "999", "6,513", "1,000,000"]);
  assertEquals([1, 6_513].map(changesWait), ["1 change waits", "6,513 changes wait"]);
  assertEquals([1, 6_513].map(animals), ["1 animal", "6,513 animals"]);
});
