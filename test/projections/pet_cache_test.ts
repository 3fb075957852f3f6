import { assertEquals } from "@std/assert";
import { encodePet } from "../../events/pet.ts";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { BLOCKS_LIMIT, PetCache, SLAB_BYTES, SLABS } from "../../src/projections/pet_cache.ts";

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
  const last = (record: number) => 7 * record + 7;
  const put = (record: number) => {
    const bytes = recordOf(last(record) - 6, last(record), name);
    cache.put(last(record), bytes);
    return bytes.length;
  };
  const cachedOf = (records: number) => {
    let cached = 0;
    for (let id = 1; id <= last(records - 1); id++) {
      const text = cache.get(id);
      if (text === undefined) continue;
      assertEquals(text, textOf(id, name));
      cached++;
    }
    return cached / 7;
  };
  // The number of the slab that each record begins in.
  const slabs: number[] = [];
  for (let record = 0, slab = 0, free = SLAB_BYTES; slab <= SLABS + 1; record++) {
    const size = put(record);
    if (size > free) {
      slab++;
      free = SLAB_BYTES;
    }
    free -= size;
    slabs.push(slab);
    // Just inside a new slab, and in the middle of it.
    const isNew = slab >= SLABS - 1 && slab !== slabs.at(-2);
    if (!isNew && !(slab >= SLABS && Math.abs(free - SLAB_BYTES / 2) < size / 2)) continue;
    assertEquals(cachedOf(record + 1), slabs.filter((it) => slab - it < SLABS).length);
  }
  put(0);
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
