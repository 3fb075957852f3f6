import { assertEquals } from "@std/assert";
import { encodePet } from "../../events/pet.ts";
import { packLines } from "../../src/encoding/pack_lines.ts";
import { BLOCKS_LIMIT, PetCache, SLAB_BYTES, SLABS } from "../../src/projections/pet_cache.ts";

const encoder = new TextEncoder();

function textOf(id: number, name = `pet ${id} ☃`): string {
  return encodePet({ id, name, categoryId: 1n });
}

/** The only record of these pets. */
function recordOf(first: number, last: number, name?: string): Uint8Array {
  const ids = Array.from({ length: last - first + 1 }, (_, index) => first + index);
  const [{ value, count }] = packLines(ids.map((id) => encoder.encode(textOf(id, name))), 100_000);
  assertEquals(count, ids.length);
  return value;
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
  for (let id = 0; id <= 10; id++) assertEquals(cache.get(id), undefined);
});

Deno.test("put() overwrites the oldest records once the ring is full", () => {
  const cache = new PetCache();
  const name = "x".repeat(1_000);
  const size = recordOf(1, 7, name).length;
  const perSlab = Math.floor(SLAB_BYTES / size);
  const put = (record: number) =>
    cache.put(7 * record + 7, recordOf(7 * record + 1, 7 * record + 7, name));
  const isCached = (record: number) => cache.get(7 * record + 4) === textOf(7 * record + 4, name);
  // Ids with more digits take more space, so a slab holds fewer of the later records.
  const records = SLABS * perSlab - SLABS;
  for (let record = 0; record < records; record++) put(record);
  assertEquals([isCached(0), isCached(records - 1)], [true, true]);
  for (let record = records; record < records + 2 * perSlab; record++) put(record);
  assertEquals(
    [isCached(0), isCached(3 * perSlab), isCached(records + 2 * perSlab - 1)],
    [false, true, true],
  );
  put(0);
  assertEquals(isCached(0), true, "an overwritten record can be cached again");
});

Deno.test("put() limits the index, however far apart the ids are", () => {
  const cache = new PetCache();
  const put = (number: number) => cache.put(64 * number, recordOf(64 * number, 64 * number));
  for (let number = 1; number <= BLOCKS_LIMIT; number++) put(number);
  assertEquals(cache.get(64), textOf(64));
  put(BLOCKS_LIMIT + 1);
  assertEquals([cache.get(64), cache.get(128)], [undefined, textOf(128)]);
  put(1);
  assertEquals(cache.get(64), textOf(64));
});

Deno.test("clear() drops all texts", () => {
  const cache = new PetCache();
  cache.put(100, recordOf(1, 100));
  cache.clear();
  assertEquals([cache.get(1), cache.get(100)], [undefined, undefined]);
  cache.put(100, recordOf(1, 100));
  assertEquals(cache.get(100), textOf(100));
});
