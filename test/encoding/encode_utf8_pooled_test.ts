import { assertEquals } from "@std/assert";
import { encodeUtf8Pooled } from "../../src/encoding/encode_utf8_pooled.ts";

const encoder = new TextEncoder();

Deno.test("encodeUtf8Pooled() encodes as TextEncoder does, and touches no earlier bytes", () => {
  const texts = ["", "Rex", "Zoë", "☃", "🐶", "\ud83d"].flatMap((piece) =>
    [1, 7, 100, 2_730, 2_731, 30_000].map((times) => piece.repeat(times))
  );
  // More than once through the shared memory.
  const encoded = [...texts, ...texts, ...texts].map((text) => ({
    text,
    bytes: encodeUtf8Pooled(text),
  }));
  for (const { text, bytes } of encoded) {
    assertEquals(new Uint8Array(bytes), encoder.encode(text), `${text.length} code units`);
  }
});
