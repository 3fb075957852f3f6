import { assertEquals } from "@std/assert";
import { encodeUtf8Pooled } from "../../src/encoding/encode_utf8_pooled.ts";
import { utf8 } from "../support/utf8.ts";

Deno.test("encodeUtf8Pooled() returns the bytes of any text, which later calls do not change", () => {
  const texts = Array.from({ length: 3_000 }, (_, index) => "Zoë 🐈".repeat(index % 40) + index);
  texts.push("é".repeat(3_000), "é".repeat(200_000), "");
  const encoded = texts.map(encodeUtf8Pooled);
  for (const [index, text] of texts.entries()) assertEquals(encoded[index], utf8(text));
});
