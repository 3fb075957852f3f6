import { assertEquals } from "@std/assert";
import { BLOCK_SIZE, PetCache } from "../../src/projections/pet_cache.ts";

const encoder = new TextEncoder();
const encode = (text: string) => encoder.encode(text);

Deno.test("get() returns each text, from a complete and from an incomplete block", () => {
  const cache = new PetCache();
  const ids = Array.from({ length: 3 * BLOCK_SIZE }, (_, index) => index + 1);
  for (const id of ids.toReversed()) cache.put(id, encode(`pet ${id} ☃`));
  for (const id of ids) assertEquals(cache.get(id), `pet ${id} ☃`);
  assertEquals(cache.get(0), undefined);
  assertEquals(cache.get(3 * BLOCK_SIZE + 1), undefined);
});

Deno.test("put() of a cached pet changes nothing", () => {
  const cache = new PetCache();
  for (let id = 0; id < BLOCK_SIZE; id++) cache.put(id, encode(`first ${id}`));
  cache.put(5, encode("second"));
  cache.put(BLOCK_SIZE, encode("first"));
  cache.put(BLOCK_SIZE, encode("second"));
  assertEquals([cache.get(5), cache.get(BLOCK_SIZE)], ["first 5", "first"]);
});

Deno.test("put() drops the oldest blocks beyond the size limit", () => {
  const cache = new PetCache();
  const text = "x".repeat(1024 * 1024);
  for (let id = 0; id < 2 * BLOCK_SIZE; id++) cache.put(id, encode(text));
  assertEquals(cache.get(0), undefined);
  assertEquals(cache.get(2 * BLOCK_SIZE - 1), text);
});

Deno.test("clear() drops all texts", () => {
  const cache = new PetCache();
  for (let id = 0; id <= BLOCK_SIZE; id++) cache.put(id, encode("x"));
  cache.clear();
  assertEquals([cache.get(1), cache.get(BLOCK_SIZE)], [undefined, undefined]);
});
