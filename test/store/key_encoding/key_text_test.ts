import { assertEquals } from "@std/assert";
import { formatKey } from "../../../src/store/key_encoding/key_text.ts";

Deno.test("formatKey() is readable, and differs for different keys", () => {
  const texts = new Map<readonly unknown[], string>([
    [["projection", 1, "pet", 7], '["projection",1,"pet",7]'],
    [["projection", 1n, "pet", 7], '["projection",1n,"pet",7]'],
    [["projection", "1", "pet", 7], '["projection","1","pet",7]'],
    [['a","b'], '["a\\",\\"b"]'],
    [["a", "b"], '["a","b"]'],
    [[0], "[0]"],
    [[-0], "[-0]"],
    [[true], "[true]"],
    [["true"], '["true"]'],
    [[new Uint8Array([1, 255])], "[0x01ff]"],
    [[new Uint8Array()], "[0x]"],
    [[], "[]"],
  ]);
  for (const [key, text] of texts) assertEquals(formatKey(key), text);
  assertEquals(new Set(texts.values()).size, texts.size);
});
