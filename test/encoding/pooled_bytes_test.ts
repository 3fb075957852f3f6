import { encodeUtf8Pooled } from "eventstore-less/parts";
import { pooledBytes } from "../../src/eventstore_less/encoding/pooled_bytes.ts";
import { assertEquals } from "@std/assert";

Deno.test("pooled bytes keep their content, whatever is made after them", () => {
  const texts = Array.from({ length: 1_000 }, (_, index) => `Zoë ${index} `.repeat(index % 40));
  const made = texts.map((text) => ({ encoded: encodeUtf8Pooled(text), filled: pooledBytes(100) }));
  for (const [index, { filled }] of made.entries()) filled.fill(index % 256);
  for (const [index, { encoded, filled }] of made.entries()) {
    assertEquals(new TextDecoder().decode(encoded), texts[index]);
    assertEquals(filled, new Uint8Array(100).fill(index % 256));
  }
});

Deno.test("short arrays share a buffer, and a long one has its own", () => {
  const [short, other] = [pooledBytes(10), pooledBytes(10)];
  assertEquals(short.buffer === other.buffer, true);
  for (const long of [pooledBytes(10_000), encodeUtf8Pooled("é".repeat(10_000))]) {
    assertEquals(long.buffer === short.buffer, false);
  }
  assertEquals(pooledBytes(10_000).buffer.byteLength, 10_000);
});
