/** PetReader shows the pets as of a head or a later one, whoever changes them, and reads the store seldom. */

import {
  assert,
  assertEquals,
  assertLessOrEqual,
  assertNotStrictEquals,
  assertRejects,
  assertStrictEquals,
} from "@std/assert";
import { encodeEvent, type EventBody, type RecordedLine } from "../../events/event.ts";
import {
  encodePet,
  patchPet,
  type Pet,
  PET_STATUSES,
  type PetPatch,
  type PetStatus,
  reversePatch,
} from "../../events/pet.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import {
  HEAD_KEY,
  logMutations,
  petKey,
  petListOf,
  projectionKey,
  retainedMutations,
} from "../../src/keyspace.ts";
import { encodeHead, type Head, headAfter, type HeadEntry, readHead } from "../../src/log/head.ts";
import { type PageQuery, PetReader } from "../../src/projections/pet_reader.ts";
import { project } from "../../src/projections/project.ts";
import { ServiceError } from "../../src/service_error.ts";
import type { Key, Mutation } from "../../src/store/store.ts";
import { NO_INSTRUMENTATION } from "../../src/telemetry/instrumentation.ts";
import { ModelStore } from "../sim/model_store.ts";
import { faultyStore } from "../support/faulty_store.ts";
import { sampleId } from "../support/sample_log.ts";
import { openTestService } from "../support/test_service.ts";

const encoder = new TextEncoder();
const TIME = "2026-01-01T00:00:00.000Z";
const LISTED = [undefined, ...PET_STATUSES];

/** A change of the pet with that id, or an addition without one. */
type Step = { id?: number; patch: PetPatch };

/** A log that any number of instances write, with the pets as of each of its heads. */
class History {
  readonly store = new ModelStore({ now: () => 0 });
  entry!: HeadEntry;
  pets: readonly Pet[] = [];

  static async of(steps: Step[]) {
    const history = new History();
    history.entry = await readHead(history.store);
    await history.commit(steps);
    return history;
  }

  /** Commits the steps, and returns what the appender passes to the caches of its instance. */
  async commit(steps: Step[], generation = this.entry.head.generation) {
    const base = this.entry;
    const pets = [...this.pets];
    const lines: RecordedLine[] = [];
    let next: Head = { ...base.head, generation };
    for (const { id = pets.length + 1, patch } of steps) {
      const before = pets[id - 1];
      const after = patchPet(before ?? { id, name: "Rex", categoryId: 1n }, patch);
      pets[id - 1] = after;
      const body: EventBody = before === undefined
        ? { type: "PetCreated", data: after }
        : { type: "PetUpdated", data: { ...after, previous: reversePatch(before, after) } };
      const position = next.position + 1;
      const metadata = { id: sampleId(position), time: TIME, actor: sampleId(0) };
      const event = { ...body, ...metadata, position, previousHash: next.lastHash };
      const line = encoder.encode(encodeEvent(event));
      lines.push({ event, line });
      next = headAfter(next, event, sha256Hex(line));
    }
    const mutations: Mutation[] = [
      ...logMutations(base.head.position + 1, lines.map(({ line }) => line)),
      ...retainedMutations(generation, project(lines), 0),
      { type: "set", key: HEAD_KEY, value: encodeHead(next) },
    ];
    const versionstamp = (await this.store.commit({ checks: [], mutations }))!;
    this.entry = { head: next, versionstamp };
    this.pets = pets;
    return { base, next, lines };
  }

  /** The page that the query must get as of now. */
  expected({ status, limit, cursor = Infinity }: PageQuery) {
    const pets = this.pets.filter((pet) =>
      pet.id < cursor && (status === undefined || pet.status === status)
    ).reverse();
    const shown = pets.slice(0, limit);
    const next = pets.length > limit ? shown.at(-1)!.id : undefined;
    return { text: `[${shown.map(encodePet).join(",")}]`, next };
  }
}

/** Pets with the statuses in turn: available, pending, sold, none. */
function added(count: number): Step[] {
  return Array.from({ length: count }, (_, index) => ({
    patch: { name: `Zoë ${index + 1}`, status: [...PET_STATUSES, null][index % 4] },
  }));
}

async function assertShows(reader: PetReader, history: History, query: PageQuery, words = "") {
  const { text, next } = await reader.list(query, history.entry);
  assertEquals({ text, next }, history.expected(query), `${words} ${JSON.stringify(query)}`);
}

async function assertShowsAll(reader: PetReader, history: History, words = "") {
  for (const status of LISTED) await assertShows(reader, history, { limit: 100, status }, words);
  for (const pet of history.pets) {
    assertEquals(await reader.get(pet.id, history.entry), encodePet(pet), words);
  }
}

Deno.test("list() returns each page, with the right cursor, and reads the store a few times at most", async () => {
  const history = await History.of(added(40));
  await history.commit([{ id: 3, patch: { status: null } }, { id: 4, patch: { status: "sold" } }]);
  const store = faultyStore(history.store);
  const warm = new PetReader(store);
  for (const status of LISTED) {
    const fitting = history.pets.filter((pet) => status === undefined || pet.status === status);
    for (const limit of [1, 2, 5, 20, fitting.length - 1, fitting.length, 100]) {
      for (const cursor of [undefined, ...Array.from({ length: 43 }, (_, index) => index + 1)]) {
        const query = { limit, status, cursor };
        store.lists.length = store.gets.length = 0;
        await assertShows(new PetReader(store), history, query, "cold");
        assertLessOrEqual(store.lists.length + store.gets.length, 4);
        await assertShows(warm, history, query, "warm");
        store.lists.length = store.gets.length = 0;
        await assertShows(warm, history, query, "cached");
        assertEquals([store.lists, store.gets], [[], []]);
      }
    }
  }
});

/** A generator of numbers below a limit, always the same ones. */
function randomOf(seed: number) {
  return (limit: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor(seed / 2 ** 31 * limit);
  };
}

Deno.test("list() and get() show every change, of this instance and of others, in any order of work", async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const random = randomOf(seed);
    const history = await History.of(added(5));
    /** Reader 0 never hears of its own commits. */
    const readers = Array.from({ length: 3 }, () => new PetReader(history.store));
    const late: (() => void)[] = [];
    for (let round = 0; round < 150; round++) {
      const words = `seed ${seed}, round ${round}`;
      const steps = Array.from({ length: 1 + random(3) }, (): Step => {
        const status = [...PET_STATUSES, null][random(4)];
        if (random(3) === 0) return { patch: { name: `Zoë ${round}`, status } };
        // Mostly the newest ones, which are in the lists that are kept.
        const id = Math.max(1, history.pets.length - random(random(2) === 0 ? 5 : 200));
        const patch = random(4) === 0 ? { name: `Max ${round}` } : { status };
        const isChange = reversePatch(history.pets[id - 1], patchPet(history.pets[id - 1], patch));
        return Object.keys(isChange).length > 0 ? { id, patch } : { patch: { status } };
      });
      const ids = steps.map(({ id }) => id);
      // The appender puts one change of a pet into a commit.
      const batch = await history.commit(
        steps.filter(({ id }, index) => id === undefined || ids.indexOf(id) === index),
      );
      const reader = readers[random(readers.length)];
      if (reader !== readers[0]) {
        // The answer to a commit may come after a read that already saw it, and those of others after it.
        if (random(3) === 0) late.push(() => reader.onCommitted(batch));
        else reader.onCommitted(batch);
      }
      for (const reader of readers) {
        if (random(2) === 0) continue;
        const [limit, status] = [[1, 5, 20, 100][random(4)], LISTED[random(4)]];
        const cursor = random(2) === 0 ? undefined : 1 + random(history.pets.length + 2);
        await assertShows(reader, history, { limit, status, cursor }, words);
        await assertShows(reader, history, { limit: 20, status }, words);
        const pet = history.pets[random(history.pets.length)];
        assertEquals(await reader.get(pet.id, history.entry), encodePet(pet), words);
      }
      if (random(3) === 0) late.shift()?.();
    }
    for (const reader of readers) await assertShowsAll(reader, history, `seed ${seed}`);
  }
});

Deno.test("list() and get() at an earlier head show the state of that head or of a later one", async () => {
  const history = await History.of(added(10));
  const heads = [history.entry];
  const states = [history.pets];
  for (let round = 0; round < 20; round++) {
    const status = PET_STATUSES[round % 3];
    const id = 1 + round % 10;
    const isChange = history.pets[id - 1].status !== status;
    // The newest change may be followed by an addition in its commit.
    await history.commit([
      ...(isChange ? [{ id, patch: { status } }] : []),
      ...(isChange && round % 2 === 0 ? [] : [{ patch: {} }]),
    ]);
    heads.push(history.entry);
    states.push(history.pets);
  }
  const warm = new PetReader(history.store);
  await assertShowsAll(warm, history);
  for (const reader of [warm, new PetReader(history.store)]) {
    for (const [index, entry] of heads.entries()) {
      const { lastPetId } = entry.head;
      const later = states.slice(index);
      for (const status of LISTED) {
        const { text } = await reader.list({ limit: 100, status }, entry);
        const texts = later.map((pets) => {
          const fitting = pets.filter((pet) => status === undefined || pet.status === status);
          return `[${fitting.reverse().map(encodePet).join(",")}]`;
        });
        assert(texts.includes(text), `${status} at head ${index}`);
      }
      assertEquals(await reader.get(lastPetId + 1, entry), undefined);
    }
  }
});

/**
 * Commits: changes of texts in several lists, and of statuses to earlier and later lists; and an addition followed by a
 * change of an older pet, which no page may show without the new one.
 */
const RACING: Step[][][] = [
  [[{ id: 7, patch: { name: "Max" } }, { id: 8, patch: { name: "Max" } }]],
  [[{ id: 5, patch: { status: "sold" } }, { id: 8, patch: { name: "Max" } }]],
  [[{ id: 7, patch: { status: "available" } }, { id: 9, patch: { name: "Max" } }]],
  [[{ id: 5, patch: { status: null } }, { id: 7, patch: { status: "pending" } }]],
  [[{ patch: { status: "sold" } }], [{ id: 7, patch: { status: "pending" } }]],
];

Deno.test("list() and get() beside changes during any of their reads show one moment, and cache nothing older", async () => {
  const queries: (PageQuery | number)[] = [5, { limit: 100 }, { limit: 3, cursor: 10 }];
  queries.push(...PET_STATUSES.map((status) => ({ limit: 100, status })));
  queries.push({ limit: 2, status: "sold", cursor: 9 });
  const races = queries.flatMap((query) =>
    RACING.flatMap((commits) =>
      [1, 2, 3, 4, 5, 6].flatMap((number) =>
        // Reads that begin together may end in any order.
        [false, true].flatMap((isReversed) =>
          [false, true].map((isOwn) => ({ query, commits, number, isReversed, isOwn }))
        )
      )
    )
  );
  for (const race of races) {
    const { query, commits, number, isReversed, isOwn } = race;
    const words = JSON.stringify(race);
    const history = await History.of(added(10));
    const states = [history.pets];
    let begun = 0;
    let reads = 0;
    const store = faultyStore(history.store, {
      async onList(apply) {
        const turns = isReversed ? 20 * (3 - begun++ % 4) : 0;
        for (let turn = 0; turn < turns; turn++) await undefined;
        if (++reads === number) {
          for (const steps of commits) {
            const batch = await history.commit(steps);
            if (isOwn) reader.onCommitted(batch);
            states.push(history.pets);
          }
        }
        return await apply();
      },
    });
    const reader = new PetReader(store);
    const { entry } = history;
    const shown = typeof query === "number"
      ? await reader.get(query, entry)
      : (await reader.list(query, entry)).text;
    const possible = states.map((pets) => {
      if (typeof query === "number") return encodePet(pets[query - 1]);
      return Object.assign(new History(), { pets }).expected(query).text;
    });
    assert(possible.includes(shown!), `${words}: ${shown}`);
    reads = Infinity;
    await assertShowsAll(reader, history, words);
  }
});

Deno.test("list() rejects if the head is lost while a page is read again", async () => {
  const history = await History.of(added(10));
  let isChanged = false;
  const store = faultyStore(history.store, {
    async onList(apply) {
      if (!isChanged) await history.commit([{ id: 3, patch: { name: "Max" } }]);
      isChanged = true;
      return await apply();
    },
  });
  const lost = () => Promise.reject(new Error("lost"));
  const reader = new PetReader(store, NO_INSTRUMENTATION, lost);
  await assertRejects(() => reader.list({ limit: 5, cursor: 6 }, history.entry), Error, "lost");
});

Deno.test("list() and get() follow the changes of another instance by its new lines, up to a limit", async () => {
  const history = await History.of(added(40));
  const store = faultyStore(history.store);
  const reader = new PetReader(store);
  const reads = async () => {
    store.lists.length = 0;
    await assertShowsAll(reader, history);
    return store.lists.map(({ start, prefix }) => (start ?? prefix)![0]);
  };
  await reads();
  await history.commit([...added(2), { id: 40, patch: { status: "sold" } }]);
  assertEquals(await reads(), ["~log"]);
  for (let round = 0; round < 999; round++) {
    await history.commit([{ id: 40, patch: { name: `Max ${round}` } }]);
  }
  assertEquals([...new Set(await reads())], ["~log"]);
  for (let round = 0; round < 1_001; round++) {
    await history.commit([{ id: 40, patch: { name: `Rex ${round}` } }]);
  }
  assertEquals([...new Set(await reads())], ["projection"]);
  // Only events after the last head that was seen count for the limit.
  for (const additions of [600, 600]) {
    await history.commit(added(additions));
    await reader.get(1, history.entry);
  }
  await history.commit([{ id: 40, patch: { status: null } }]);
  store.lists.length = 0;
  assertEquals(await reader.get(40, history.entry), encodePet(history.pets[39]));
  assertEquals(new Set(store.lists.map(({ start }) => start![0])), new Set(["~log"]));
  // A line that this version does not know, or that is lost, cannot be followed either.
  await history.commit([{ id: 40, patch: { status: "pending" } }]);
  const key = ["~log", history.entry.head.position];
  await history.store.commit({ checks: [], mutations: [{ type: "delete", key }] });
  assertEquals(new Set(await reads()), new Set(["~log", "projection"]));
});

Deno.test("list() of a status reads few records, although nearly all pets have another one", async () => {
  const history = await History.of([]);
  for (let start = 0; start < 10_000; start += 500) {
    const steps = Array.from({ length: 500 }, (_, index): Step => ({
      patch: { status: index === 0 && start % 1_000 === 0 ? "available" : "sold" },
    }));
    await history.commit(steps);
  }
  let records = 0;
  const store = faultyStore(history.store, {
    async onList(apply) {
      const entries = await apply();
      records += entries.length;
      return entries;
    },
  });
  await assertShows(new PetReader(store), history, { limit: 100, status: "available" });
  assertEquals([store.lists.length, store.gets.length, records], [1, 1, 10]);
  await assertShows(new PetReader(store), history, {
    limit: 5,
    status: "available",
    cursor: 8_002,
  });
  assertEquals([store.lists.length, records], [2, 16]);
});

Deno.test("list() shows the newest pets of a status while many leave it", async () => {
  const history = await History.of(
    Array.from({ length: 400 }, (): Step => ({ patch: { status: "available" } })),
  );
  const store = faultyStore(history.store);
  const reader = new PetReader(store);
  const query = { limit: 100, status: "available" } as const;
  await assertShows(reader, history, query);
  store.lists.length = 0;
  for (let id = 400; id > 200; id--) {
    reader.onCommitted(await history.commit([{ id, patch: { status: "sold" } }]));
    await assertShows(reader, history, query);
  }
  assertLessOrEqual(store.lists.length, 4, "150 are kept, so each read lasts for 50 that leave");
  for (let id = 201; id <= 400; id++) {
    reader.onCommitted(await history.commit([{ id, patch: { status: "available" } }]));
    await assertShows(reader, history, query);
  }
});

Deno.test("list() and get() read the records of a new generation, which may correct those before it", async () => {
  const history = await History.of(added(4));
  const key = (generation: number) => projectionKey(generation, petKey("available", 1));
  const set = (generation: number, name: string): Mutation => ({
    type: "set",
    key: key(generation),
    value: encoder.encode(encodePet({ ...history.pets[0], name })),
  });
  await history.store.commit({ checks: [], mutations: [set(1, "wrong")] });
  const { entry } = history;
  const reader = new PetReader(history.store);
  assertEquals(JSON.parse((await reader.get(1, entry))!).name, "wrong");
  const copies = history.pets.map(({ id, status }) => petKey(petListOf(status), id));
  for (const copy of copies) {
    const { value } = (await history.store.get(projectionKey(1, copy)))!;
    const mutation: Mutation = {
      type: "set",
      key: projectionKey(2, copy),
      value: value as Uint8Array,
    };
    await history.store.commit({ checks: [], mutations: [mutation] });
  }
  await history.store.commit({ checks: [], mutations: [set(2, "Zoë 1")] });
  const flipped = await history.commit([], 2);
  await assertShowsAll(reader, history);
  // A request that still has the head before it reads on a newer one; a commit on it leaves the caches alone.
  assertEquals(JSON.parse((await reader.get(1, entry))!).name, "Zoë 1");
  reader.onCommitted({ ...flipped, lines: [] });
  await assertShowsAll(reader, history);
});

Deno.test("list() caches pages up to its size limit, and drops the oldest", async () => {
  await using service = await openTestService();
  const longest = { name: "\u0001".repeat(1_000), categoryId: 1 };
  await Promise.all(Array.from({ length: 101 }, () => service.add(longest)));
  const head = await service.heads.fresh();
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

Deno.test("list() and get() reject a record that is missing, or not that of its pet and status", async () => {
  const pet = (status: PetStatus | undefined, id: number) =>
    projectionKey(1, petKey(petListOf(status), id));
  const text = (id: number, status?: string) =>
    `{"id":${id},"name":"Rex","categoryId":1${status ? `,"status":"${status}"` : ""}}`;
  /** The changed record, and the read that must notice it. Pet 3 is sold, pet 4 has no status. */
  const damages: [key: Key, value: string | undefined, read: PageQuery | number][] = [
    [pet("sold", 3), undefined, 3],
    [pet("sold", 3), undefined, { limit: 9 }],
    [pet(undefined, 4), undefined, 4],
    [pet("sold", 3), text(2, "sold"), 3],
    [pet("sold", 3), text(3, "pending"), 3],
    [pet("sold", 3), text(3), { limit: 9, status: "sold" }],
    [pet("sold", 3), text(7, "sold"), { limit: 9, status: "sold", cursor: 6 }],
    [pet("sold", 3), "{}", { limit: 9 }],
    [pet("sold", 3), "", { limit: 9, status: "sold" }],
    [pet(undefined, 4), text(4, "sold"), 4],
  ];
  for (const [key, value, query] of damages) {
    const history = await History.of(added(8));
    const mutation: Mutation = value === undefined
      ? { type: "delete", key }
      : { type: "set", key, value: encoder.encode(value) };
    await history.store.commit({ checks: [], mutations: [mutation] });
    const reader = new PetReader(history.store);
    // The second read must not get from the cache what the first one refused.
    for (let time = 1; time <= 2; time++) {
      const reading = typeof query === "number"
        ? reader.get(query, history.entry)
        : reader.list(query, history.entry);
      const { code, message } = await assertRejects(() => reading, ServiceError);
      assertEquals(code, "projection_damaged", JSON.stringify([key, value]));
      assert(message.includes(` pet ${key.at(-1)} `), message);
    }
  }
});
