import { assertEquals } from "@std/assert";
import { encodeUtf8Pooled } from "../../src/encoding/encode_utf8_pooled.ts";

const encoder = new TextEncoder();

Deno.test("encodeUtf8Pooled() encodes like TextEncoder, and changes no earlier bytes", () => {
  const texts = ["", "Rex", "Zoë", "☃", "🐶", "\ud83d"].flatMap((piece) =>
    [1, 7, 100, 2_730, 2_731, 30_000].map((times) => piece.repeat(times))
  );
  // Enough text to use the shared memory more than once.
  const encoded = [...texts, ...texts, ...texts].map((text) => ({
    text,
    bytes: encodeUtf8Pooled(text),
  }));
  for (const { text, bytes } of encoded) {
    assertEquals(new Uint8Array(bytes), encoder.encode(text), `${text.length} code units`);
  }
});
