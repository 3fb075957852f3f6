import {
  assertEquals,
  assertLessOrEqual,
  assertNotStrictEquals,
  assertStrictEquals,
} from "@std/assert";
import { encodePet, PET_STATUSES, type PetStatus } from "../../events/pet.ts";
import { joinLines } from "../../src/encoding/pack_lines.ts";
import { EMPTY_HEAD } from "../../src/log/head.ts";
import { PetCache } from "../../src/projections/pet_cache.ts";
import { type PageQuery, PetReader } from "../../src/projections/pet_reader.ts";
import { KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { Key, Mutation } from "../../src/store/store.ts";
import { petByStatusKey, petKey, type ProjectionKey, projectionKey } from "../../src/keyspace.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { openSampleStore } from "../support/sample_store.ts";
import { openTestService } from "../support/test_service.ts";

interface Animal {
  id: number;
  name: string;
  categoryId: number;
  status?: PetStatus;
}

Deno.test("the cache takes every pet of packed records", async () => {
  using sample = await openSampleStore(40, [1_000]);
  const store = faultyStore(sample.store);
  const cache = new PetCache();
  const reader = new PetReader(store, undefined, cache);
  const entries = await sample.store.list({ prefix: ["projection", 1] }, { limit: 100 });
  // As soon as it knows the generation.
  await reader.list({ limit: 1 }, { ...sample.head, lastPetId: 0 });
  cache.add(entries.map(({ key, value }) => {
    return { key: key.slice(2) as ProjectionKey, value: value as string | Uint8Array };
  }));
  store.lists.length = 0;
  for (let id = 1; id <= sample.head.lastPetId; id++) {
    assertEquals(JSON.parse((await reader.get(id, sample.head))!).id, id);
  }
  const { text } = await reader.list({ limit: 100 }, sample.head);
  assertEquals(JSON.parse(text).length, sample.head.lastPetId);
  assertEquals(store.lists, []);
});

/** Numbers of events in the commits of a log, repeated. */
const GROUPINGS = [[1], [1_000], [1, 4, 2, 7], [30, 1, 1]];

Deno.test("list() returns the same pages however pets are grouped, and reads the store twice at most", async () => {
  for (const sizes of GROUPINGS) {
    using sample = await openSampleStore(75, sizes);
    const store = faultyStore(sample.store);
    const pets = sample.lines.map((line) => JSON.parse(line))
      .filter(({ type }) => type === "PetCreated")
      .map(({ data }): Animal => data).reverse();
    const warm = new PetReader(store);
    for (const status of [undefined, ...PET_STATUSES]) {
      const fitting = pets.filter((pet) => status === undefined || pet.status === status);
      for (const limit of [1, 2, 5, 20, fitting.length - 1, fitting.length, 100]) {
        for (let cursor: number | undefined = pets.length + 2; cursor !== undefined;) {
          const below = fitting.filter(({ id }) => id < cursor!);
          // Without a cursor, the newest pets are listed.
          const query = { limit, status, cursor: cursor > pets.length + 1 ? undefined : cursor };
          const expected = {
            pets: below.slice(0, limit),
            next: below.length > limit ? below[limit - 1].id : undefined,
          };
          store.lists.length = 0;
          const cold = await new PetReader(store).list(query, sample.head);
          assertLessOrEqual(store.lists.length, 2);
          for (const page of [cold, await warm.list(query, sample.head)]) {
            const found = { pets: JSON.parse(page.text), next: page.next };
            assertEquals(found, expected, JSON.stringify({ sizes, ...query }));
          }
          cursor = cursor === 1 ? undefined : cursor - 1;
        }
      }
    }
  }
});

Deno.test("list() and get() at each head return its pets, from the store, after a later head and after catching up", async () => {
  for (const sizes of [[1], [1, 4, 2, 7]]) {
    using sample = await openSampleStore(50, sizes);
    const pets: Animal[] = [];
    const events = sample.lines.map((line) => JSON.parse(line));
    /** A reader that has cached the pages of the newest head. */
    const warm = new PetReader(sample.store);
    for (const status of [undefined, ...PET_STATUSES]) {
      await warm.list({ limit: 100, status }, sample.head);
    }
    /** A reader that catches up from head to head. */
    const following = new PetReader(sample.store);
    let group = 0;
    for (let end = sizes[0]; end <= events.length; end += sizes[++group % sizes.length]) {
      for (const { type, data } of events.slice(end - sizes[group % sizes.length], end)) {
        if (type === "PetCreated") pets.unshift(data);
      }
      const head = { ...sample.head, position: end, lastPetId: pets.length };
      for (const reader of [new PetReader(sample.store), warm, following]) {
        for (const status of [undefined, ...PET_STATUSES]) {
          const { text } = await reader.list({ limit: 100, status }, head);
          const fitting = pets.filter((pet) => status === undefined || pet.status === status);
          assertEquals(JSON.parse(text), fitting, `at position ${end}`);
        }
        assertEquals(await reader.get(pets.length + 1, head), undefined);
      }
    }
  }
});

Deno.test("get() returns each pet however pets are grouped, and reads the store once for those of a record", async () => {
  for (const sizes of GROUPINGS) {
    using sample = await openSampleStore(75, sizes);
    const store = faultyStore(sample.store);
    const warm = new PetReader(store);
    const records = await sample.store.list(
      { prefix: projectionKey(1, petKey()) },
      { limit: 100 },
    );
    for (let id = 1; id <= sample.head.lastPetId; id++) {
      store.lists.length = 0;
      const cold = await new PetReader(store).get(id, sample.head);
      assertEquals(store.lists.length, 1);
      assertEquals(JSON.parse(cold!).id, id);
      assertEquals(await warm.get(id, sample.head), cold);
    }
    const another = new PetReader(store);
    store.lists.length = 0;
    for (let id = sample.head.lastPetId; id >= 1; id--) await another.get(id, sample.head);
    assertEquals(store.lists.length, records.length);
    assertEquals(store.gets, []);
  }
});

Deno.test("list() caches pages up to its size limit, and drops the oldest", async () => {
  await using service = await openTestService();
  const longest = { name: "\u0001".repeat(1_000), categoryId: 1 };
  await Promise.all(Array.from({ length: 101 }, () => service.add(longest)));
  const { head } = await service.heads.fresh();
  const reader = new PetReader(service.store);
  const first = await reader.list({ limit: 100 }, head);
  assertStrictEquals(await reader.list({ limit: 100 }, head), first);
  let length = first.text.length;
  for (let cursor = 102; length < 40 * 1024 * 1024; cursor++) {
    length += (await reader.list({ limit: 100, cursor }, head)).text.length;
  }
  const again = await reader.list({ limit: 100 }, head);
  assertNotStrictEquals(again, first);
  assertEquals(again, first);
  assertStrictEquals(await reader.list({ limit: 100 }, head), again);
});

Deno.test("list() and get() reject a record with other pets than those of its key, status and neighbours", async () => {
  const encoder = new TextEncoder();
  /** Pets 1 to 9 in records of three. The odd ones are sold. */
  const texts = Array.from({ length: 9 }, (_, index) => {
    const id = index + 1;
    return encodePet({ id, name: "Rex", categoryId: 1n, status: id % 2 ? "sold" : "pending" });
  });
  const text = (id: number) => texts[id - 1];
  const record = (lines: string[]) => joinLines(lines.map((line) => encoder.encode(line)));
  const pet = (id: number) => projectionKey(1, petKey(id));
  const sold = (id: number) => projectionKey(1, petByStatusKey("sold", id));
  const sound = [[3, 1, 2, 3], [6, 4, 5, 6], [9, 7, 8, 9]].map(([last, ...ids]) => ({
    key: pet(last),
    lines: ids.map(text),
  }));
  sound.push({ key: sold(3), lines: [1, 3].map(text) });
  sound.push({ key: sold(9), lines: [5, 7, 9].map(text) });
  /** The lines of the record of a key, and the read that must notice them. */
  const damages: [key: Key, lines: string[], read: PageQuery | number][] = [
    [pet(6), [4, 2, 6].map(text), 5],
    [pet(6), [4, 6, 5].map(text), 5],
    [pet(6), [5, 5, 6].map(text), 5],
    [pet(6), [4, 5].map(text), 5],
    [pet(6), [], 5],
    [pet(6), [], { limit: 9 }],
    [pet(6), [text(4), "{}", text(6)], 4],
    [pet(6), [3, 4, 5, 6].map(text), { limit: 9 }],
    [pet(7), [text(7)], { limit: 9 }],
    [sold(9), [5, 7].map(text), { limit: 9, status: "sold" }],
    [sold(9), [5, 7, 9, 9].map(text), { limit: 9, status: "sold" }],
    [sold(9), [7, 5, 9].map(text), { limit: 9, status: "sold" }],
    [sold(9), [5, 7, 8].map(text), { limit: 9, status: "sold" }],
    [sold(9), [text(5), "{}", text(9)], { limit: 9, status: "sold" }],
    [sold(9), [5, 6, 7, 9].map(text), { limit: 9, status: "sold" }],
    [sold(9), [3, 5, 7, 9].map(text), { limit: 9, status: "sold" }],
    [sold(7), [5, 7].map(text), { limit: 9, status: "sold" }],
    [sold(7), [5, 7].map(text), { limit: 9, status: "sold", cursor: 9 }],
  ];
  const head = { ...EMPTY_HEAD, generation: 1, lastPetId: 9 };
  for (const [key, lines, query] of damages) {
    using kv = await Deno.openKv(":memory:");
    const store = new KvStore(kv);
    for (const { key: into, lines: holding } of [...sound, { key, lines }]) {
      const mutations: Mutation[] = [{ type: "set", key: into, value: record(holding) }];
      await store.commit({ checks: [], mutations });
    }
    const reader = new PetReader(store);
    const read = async () =>
      typeof query === "number" ? await reader.get(query, head) : await reader.list(query, head);
    // The second read must not get from the cache what the first one refused.
    for (let time = 1; time <= 2; time++) {
      const outcome = await read().catch((error) => error.code);
      assertEquals(outcome, "projection_damaged", JSON.stringify([key, lines]));
    }
  }
});
