import { assert, assertEquals } from "@std/assert";
import { encodePet } from "../../events/pet.ts";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { INDEX_SIZE, PetCache, SLAB_BYTES, SLABS } from "../../src/projections/pet_cache.ts";

const encoder = new TextEncoder();

function textOf(id: number, name = `pet ${id} ☃`): string {
  return encodePet({ id, name, categoryId: 1n });
}

/** The record of these pets. */
function recordOf(first: number, last: number, name?: string): Uint8Array {
  const ids = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  return joinLines(ids.map((id) => encoder.encode(textOf(id, name))));
}

Deno.test("get() returns each text of records of one and of several pets", () => {
  const cache = new PetCache();
  for (const [first, last] of [[60, 150], [1, 1], [2, 59], [300, 300]]) {
    cache.put(last, recordOf(first, last));
  }
  for (const id of [1, 2, 59, 60, 63, 64, 127, 128, 150, 300]) {
    assertEquals(cache.get(id), textOf(id));
  }
  for (const id of [0, 151, 299, 301, 1e15]) assertEquals(cache.get(id), undefined);
});

Deno.test("put() of a cached record changes nothing", () => {
  const cache = new PetCache();
  cache.put(9, recordOf(5, 9, "first"));
  cache.put(9, recordOf(5, 9, "second"));
  assertEquals(cache.get(7), textOf(7, "first"));
});

Deno.test("put() does not cache a record that does not hold the pets up to its id", () => {
  const cache = new PetCache();
  cache.put(10, recordOf(5, 9));
  cache.put(3, encoder.encode("{}\n"));
  cache.put(4, new Uint8Array());
  cache.put(5, recordOf(5, 6).slice(0, -1));
  cache.put(1, recordOf(1, 2).slice(0, -1));
  for (let id = 0; id <= 10; id++) assertEquals(cache.get(id), undefined);
});

Deno.test("put() overwrites the oldest records once the ring is full, and get() returns no overwritten text", () => {
  const cache = new PetCache();
  const name = "x".repeat(1_000);
  const put = (last: number) => cache.put(last, recordOf(last - 6, last, name));
  const perSlab = 7 * Math.floor(SLAB_BYTES / recordOf(1_000_000, 1_000_006, name).length);
  const lastPut = perSlab * SLABS * 1.5 - perSlab * SLABS * 1.5 % 7;
  for (let last = 7; last <= lastPut; last += 7) put(last);
  let cached = 0;
  for (let id = 1; id <= lastPut; id++) {
    const text = cache.get(id);
    if (text === undefined) continue;
    assertEquals(text, textOf(id, name));
    cached++;
  }
  assert(Math.abs(cached - perSlab * SLABS) < 2 * perSlab, `${cached} are cached`);
  assertEquals([cache.get(1), cache.get(lastPut)], [undefined, textOf(lastPut, name)]);
  put(7);
  assertEquals(cache.get(1), textOf(1, name), "an overwritten record can be cached again");
});

Deno.test("put() caches a record that fills a slab, and none that is larger", () => {
  const cache = new PetCache();
  const nameOf = (id: number, bytes: number) => "x".repeat(bytes - textOf(id, "").length - 1);
  for (const [id, bytes] of [[1, SLAB_BYTES], [2, SLAB_BYTES], [3, 100], [4, SLAB_BYTES + 1]]) {
    cache.put(id, recordOf(id, id, nameOf(id, bytes)));
  }
  const lengths = [1, 2, 3, 4].map((id) => cache.get(id)?.length);
  assertEquals(lengths, [SLAB_BYTES - 1, SLAB_BYTES - 1, 99, undefined]);
});

Deno.test("put() replaces a text whose id shares its entry of the index", () => {
  const cache = new PetCache();
  const ids = [3, 3 + INDEX_SIZE];
  for (const id of ids) cache.put(id, recordOf(id, id));
  assertEquals(ids.map((id) => cache.get(id)), [undefined, textOf(ids[1])]);
  cache.put(3, recordOf(3, 3));
  assertEquals(ids.map((id) => cache.get(id)), [textOf(3), undefined]);
});

Deno.test("clear() drops all texts", () => {
  const cache = new PetCache();
  cache.put(100, recordOf(1, 100));
  cache.clear();
  assertEquals([cache.get(1), cache.get(100)], [undefined, undefined]);
  cache.put(100, recordOf(1, 100));
  assertEquals(cache.get(100), textOf(100));
});
