import { assert, assertEquals } from "@std/assert";
import { TextBuffer } from "../../src/encoding/text_buffer.ts";

Deno.test("TextBuffer encodes texts of any length one after the other, many into one buffer", () => {
  const texts = ["", "a", "é犬🐕", "b".repeat(70_000), "犬".repeat(40_000), "c"];
  const buffer = new TextBuffer();
  const encoded = texts.map((text) => buffer.add(text));
  const decoder = new TextDecoder();
  const decoded = encoded.map(({ buffer, start, end }) =>
    decoder.decode(buffer.subarray(start, end))
  );
  assertEquals(decoded, texts);
  assert(new TextBuffer().add("a").buffer.buffer.byteLength < 10, "One text takes little memory");
  const many = Array.from({ length: 1_000 }, () => buffer.add("x".repeat(64)).buffer);
  assert(new Set(many).size < 10);
});
