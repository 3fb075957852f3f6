import { assertEquals, assertLess, assertStrictEquals } from "@std/assert";
import { byteStream } from "../../../src/http/assets/byte_stream.ts";

Deno.test("byteStream() streams the exact bytes, whether none or many", async () => {
  for (const length of [0, 1, 65_536, 65_537, 300_000]) {
    const bytes = Uint8Array.from({ length }, (_, index) => index % 251);
    assertEquals(await new Response(byteStream(bytes)).bytes(), bytes);
  }
});

Deno.test("byteStream() yields chunks of the shared memory, not copies", async () => {
  const bytes = new Uint8Array(300_000);
  for await (const chunk of byteStream(bytes)) {
    assertStrictEquals(chunk.buffer, bytes.buffer);
    assertLess(chunk.length, 100_000);
  }
});
