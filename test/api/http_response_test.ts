import { Buffer } from "node:buffer";
import { assertEquals } from "@std/assert";
import { chunksOf } from "../../src/api/http_response.ts";

Deno.test("chunksOf() encodes a text as a whole, wherever pairs of surrogates are, and a lone one as U+FFFD", () => {
  const texts = ["", "a", "🐕".repeat(50_000), `a${"🐕".repeat(50_000)}`, "\ud83d".repeat(40_000)];
  for (const text of texts) {
    const whole = new TextEncoder().encode(text);
    for (const body of [text, whole]) {
      const chunks = [...chunksOf(body)];
      assertEquals(new Uint8Array(Buffer.concat(chunks)), whole);
      assertEquals(chunks.every(({ length }) => length > 0 && length <= 64 * 1024), true);
    }
  }
});
