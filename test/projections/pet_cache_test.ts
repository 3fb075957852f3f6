import { assert, assertEquals } from "@std/assert";
import { encodePet } from "../../events/pet.ts";
import { INDEX_SIZE, PetCache, SLAB_BYTES, SLABS } from "../../src/projections/pet_cache.ts";

const encoder = new TextEncoder();

function textOf(id: number, name = `pet ${id} ☃`): string {
  return encodePet({ id, name, categoryId: 1n });
}

function put(cache: PetCache, id: number, name?: string): void {
  cache.put(id, encoder.encode(textOf(id, name)));
}

Deno.test("get() returns each text, and none of another pet", () => {
  const cache = new PetCache();
  const ids = [60, 2, 1, 300, 63, 64, 127, 128];
  for (const id of ids) put(cache, id);
  for (const id of ids) assertEquals(cache.get(id), textOf(id));
  for (const id of [0, 3, 62, 299, 301, 1e15]) assertEquals(cache.get(id), undefined);
});

Deno.test("get() returns no text that is not of the pet", () => {
  const cache = new PetCache();
  for (const text of ["{}", "", textOf(3), textOf(2).slice(3)]) {
    cache.put(2, encoder.encode(text));
    assertEquals(cache.get(2), undefined, text);
  }
});

Deno.test("put() overwrites the oldest texts once the ring is full, and get() returns no overwritten text", () => {
  const cache = new PetCache();
  const name = "x".repeat(8_000);
  const perSlab = Math.floor(SLAB_BYTES / (textOf(1_000_000, name).length + 1));
  const last = perSlab * SLABS * 1.5;
  for (let id = 1; id <= last; id++) put(cache, id, name);
  let cached = 0;
  for (let id = 1; id <= last; id++) {
    const text = cache.get(id);
    if (text === undefined) continue;
    assertEquals(text, textOf(id, name));
    cached++;
  }
  assert(Math.abs(cached - perSlab * SLABS) < 2 * perSlab, `${cached} are cached`);
  assertEquals([cache.get(1), cache.get(last)], [undefined, textOf(last, name)]);
  put(cache, 1, name);
  assertEquals(cache.get(1), textOf(1, name), "an overwritten text can be cached again");
});

Deno.test("put() caches a text that fills a slab, and none that is larger", () => {
  const cache = new PetCache();
  const nameOf = (id: number, bytes: number) => "x".repeat(bytes - textOf(id, "").length - 1);
  for (const [id, bytes] of [[1, SLAB_BYTES], [2, SLAB_BYTES], [3, 100], [4, SLAB_BYTES + 1]]) {
    put(cache, id, nameOf(id, bytes));
  }
  const lengths = [1, 2, 3, 4].map((id) => cache.get(id)?.length);
  assertEquals(lengths, [SLAB_BYTES - 1, SLAB_BYTES - 1, 99, undefined]);
});

Deno.test("put() replaces the text of the pet, and one whose id shares its entry of the index", () => {
  const cache = new PetCache();
  for (const name of ["first", "a longer second", "3"]) {
    put(cache, 7, name);
    assertEquals(cache.get(7), textOf(7, name));
  }
  const ids = [3, 3 + INDEX_SIZE];
  for (const id of ids) put(cache, id);
  assertEquals(ids.map((id) => cache.get(id)), [undefined, textOf(ids[1])]);
  put(cache, 3);
  assertEquals(ids.map((id) => cache.get(id)), [textOf(3), undefined]);
});
