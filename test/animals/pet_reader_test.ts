/** PetReader shows the pets of a head or of a later one, with changes of every instance, at a bounded cost. */

import type { EventBody, RecordedLine } from "../../events/all_events.ts";
import { sha256Hex } from "eventstore-less/parts";
import { APPLICATION } from "../../src/application.ts";
import { petKey, petListOf } from "../../src/animals/pet_keys.ts";
import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Committed } from "../../src/eventstore_less/append/appender.ts";
import { encodeEvent } from "../../src/eventstore_less/log/event.ts";
import {
  encodePet,
  formerValuesOf,
  patchPet,
  type Pet,
  PET_STATUSES,
  type PetPatch,
  type PetStatus,
} from "../../events/pet.ts";
import {
  HEAD_KEY,
  logMutations,
  projectionKey,
  projectionMutations,
} from "../../src/eventstore_less/keyspace.ts";
import {
  addEvent,
  draftOf,
  encodeHead,
  type HeadEntry,
  readHead,
} from "../../src/eventstore_less/log/head.ts";
import { headOf, type Page, type PageQuery, totalOf } from "../../src/animals/page.ts";
import { PetIndexReader } from "../../src/animals/pet_index_reader.ts";
import type { PetReader } from "../../src/animals/pet_reader.ts";
import { HeadReader } from "../../src/eventstore_less/log/head_reader.ts";
import { project } from "../../src/eventstore_less/projections/project.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import type { Key, Mutation } from "../../src/eventstore_less/store/store.ts";
import { ModelStore } from "../sim/model_store.ts";
import { Random } from "../sim/random.ts";
import { petReaderOf } from "../support/pet_reader_of.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { faultyStore } from "../support/faulty_store.ts";
import { sampleId } from "../support/sample_log.ts";
import { putRecord, setRecord } from "../support/set_record.ts";
import { commit } from "../support/store_contract.ts";
import { SAMPLE_STEP } from "../support/sample_step.ts";

const encoder = new TextEncoder();
const TIME = "2026-01-01T00:00:00.000Z";
const LISTED = [undefined, ...PET_STATUSES, "none"] as const;

/** A change of the pet with that id, its removal without a patch, or an addition without an id. */
type Step = { id?: number; patch?: PetPatch };

/** Pets by their ids, from 1 on, without those that were removed. */
type Pets = readonly (Pet | undefined)[];

/** A log that any number of instances write, with the pets as of each of its heads. */
class History {
  readonly store = new ModelStore();
  readonly lines: RecordedLine[] = [];
  entry!: HeadEntry;
  pets: Pets = [];
  /** The pets as of each head, by its position. */
  readonly states = new Map<number, Pets>();

  static async of(steps: Step[]) {
    const history = new History();
    history.entry = await readHead(APPLICATION, history.store);
    await history.commit(steps);
    return history;
  }

  async commit(
    steps: Step[],
    generation = this.entry.head.generation,
  ): Promise<Committed<EventBody>> {
    const base = this.entry;
    const pets = [...this.pets];
    const lines: RecordedLine[] = [];
    const next = draftOf({ ...base.head, generation });
    for (const { id = pets.length + 1, patch } of steps) {
      const before = pets[id - 1];
      const after = patchPet(before ?? { id, name: "Rex", categoryId: 1n }, patch ?? {});
      pets[id - 1] = patch && after;
      const body: EventBody = patch === undefined
        ? { type: "PetRemoved", data: after }
        : before === undefined
        ? { type: "PetCreated", data: after }
        : { type: "PetUpdated", data: { ...after, previous: formerValuesOf(before, after) } };
      const position = next.position + 1;
      const metadata = { id: sampleId(position), time: TIME, actor: sampleId(0) };
      const event = { ...body, ...metadata, position, previousHash: next.lastHash };
      const line = encoder.encode(encodeEvent(APPLICATION, event));
      lines.push({ event, line });
      addEvent(APPLICATION, next, event, sha256Hex(line));
    }
    const mutations: Mutation[] = [
      ...logMutations(base.head.position + 1, lines.map(({ line }) => line)),
      ...projectionMutations(generation, project(APPLICATION, lines)),
      { type: "set", key: HEAD_KEY, value: encodeHead(APPLICATION, next) },
    ];
    const guard = { key: HEAD_KEY, versionstamp: base.versionstamp };
    const versionstamp = (await this.store.commit({ guard, mutations }))!;
    this.lines.push(...lines);
    this.entry = { head: next, versionstamp };
    this.pets = pets;
    this.states.set(next.position, pets);
    return { base, next, lines };
  }
}

/** The page that the query must get if these are the pets. */
function expectedPage(pets: Pets, query: PageQuery) {
  const { status, limit, order, cursor, categoryId, ids } = query;
  const matching = pets.filter((pet) => pet !== undefined).filter((pet) =>
    (status === undefined || (pet.status ?? "none") === status) && (!ids || ids.includes(pet.id)) &&
    (categoryId === undefined || pet.categoryId === categoryId)
  );
  const fitting = order === "asc"
    ? matching.filter(({ id }) => id > (cursor ?? 0))
    : matching.filter(({ id }) => id < (cursor ?? Infinity)).reverse();
  const shown = fitting.slice(0, limit);
  const next = fitting.length > limit ? shown.at(-1)!.id : undefined;
  const isScan = categoryId !== undefined && (next ?? query.cursor) !== undefined;
  const total = isScan ? undefined : matching.length;
  return { text: `[${shown.map(encodePet).join(",")}]`, next, total };
}

/** Reads a page, or the pet with that id. */
function readOne(reader: PetReader, query: PageQuery | number, entry: HeadEntry) {
  return typeof query === "number" ? reader.get(query, entry) : reader.list(query, entry);
}

/** Whether the query, or the pet with that id, shows one of these states of the pets. */
function showsOneOf(states: Pets[], query: PageQuery | number, text?: string) {
  const shown = (pets: Pets) =>
    typeof query === "number" ? textOfPet(pets[query - 1]) : expectedPage(pets, query).text;
  return states.some((pets) => shown(pets) === text);
}

const textOfPet = (pet: Pet | undefined) => pet && encodePet(pet);

/** Pets with the statuses in turn: available, pending, sold, none. */
function added(count: number): Step[] {
  return Array.from({ length: count }, (_, index) => ({
    patch: { name: `Zoë ${index + 1}`, status: [...PET_STATUSES, null][index % 4] },
  }));
}

async function assertShows(reader: PetReader, history: History, query: PageQuery, words = "") {
  const page = await reader.list(query, history.entry);
  const { text, next } = page;
  const total = totalOf(query, page, headOf(page, history.entry));
  assertEquals(
    { text, next, total },
    expectedPage(history.pets, query),
    `${words} ${textOf(query)}`,
  );
}

/** Asserts that a page is exactly as of the head that it names. */
function assertIsAsOfItsHead(
  { text, next, head }: Page,
  history: History,
  query: PageQuery,
  words = "",
) {
  const expected = expectedPage(history.states.get(head.position)!, query);
  assertEquals([text, next], [expected.text, expected.next], `${words} ${textOf(query)}`);
}

/** JSON of a case, for messages. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, it) => typeof it === "bigint" ? `${it}` : it);
}

async function assertShowsPet(reader: PetReader, history: History, id: number): Promise<void> {
  assertEquals((await reader.get(id, history.entry))?.text, textOfPet(history.pets[id - 1]));
}

async function assertShowsAll(reader: PetReader, history: History, words = "") {
  for (const status of LISTED) await assertShows(reader, history, { limit: 100, status }, words);
  for (const [index, pet] of history.pets.entries()) {
    assertEquals((await reader.get(index + 1, history.entry))?.text, textOfPet(pet), words);
  }
}

Deno.test("list() returns each page, with the right cursor, and caches it", async () => {
  const history = await History.of(added(40));
  await history.commit([{ id: 3, patch: { status: null } }, { id: 4, patch: { status: "sold" } }]);
  const warm = petReaderOf(history.store);
  for (const status of LISTED) {
    const fitting = history.pets.filter((pet) =>
      status === undefined || (pet!.status ?? "none") === status
    );
    for (const limit of [1, 2, 5, 20, fitting.length - 1, fitting.length, 100]) {
      for (const cursor of [undefined, ...Array.from({ length: 43 }, (_, index) => index + 1)]) {
        for (const order of ["desc", "asc"] as const) {
          const query = { limit, status, order, cursor };
          await assertShows(petReaderOf(history.store), history, query, "cold");
          await assertShows(warm, history, query, "warm");
          assert(!(warm.list(query, history.entry) instanceof Promise));
        }
      }
    }
  }
});

Deno.test("list() and get() show every change, with caches of any age, and at an earlier head that state or a later one", async () => {
  for (let seed = 1; seed <= 6; seed += SAMPLE_STEP) {
    const generator = new Random(seed);
    const random = (limit: number) => generator.integer(0, limit - 1);
    const history = await History.of(added(5));
    const readers = Array.from({ length: 3 }, () => petReaderOf(history.store));
    const heads = [history.entry];
    const states = [history.pets];
    for (let round = 0; round < 100; round++) {
      const words = `seed ${seed}, round ${round}`;
      const steps = Array.from({ length: 1 + random(3) }, (): Step => {
        const status = [...PET_STATUSES, null][random(4)];
        if (random(3) === 0) return { patch: { name: `Zoë ${round}`, status } };
        const id = Math.max(1, history.pets.length - random(random(2) === 0 ? 5 : 200));
        const before = history.pets[id - 1];
        const patches = [{ name: `Max ${round}` }, { categoryId: BigInt(random(3)) }, { status }];
        const patch = patches[random(3)];
        if (before === undefined) return { patch };
        if (random(4) === 0) return { id };
        const isChange = formerValuesOf(before, patchPet(before, patch));
        return Object.keys(isChange).length > 0 ? { id, patch } : { patch: { status } };
      });
      const ids = steps.map(({ id }) => id);
      // A second change of a pet may change nothing.
      await history.commit(steps.filter(({ id }, index) => !id || ids.indexOf(id) === index));
      heads.push(history.entry);
      states.push(history.pets);
      for (const reader of readers) {
        const [limit, status] = [[1, 5, 20, 100][random(4)], LISTED[random(5)]];
        const categoryId = [undefined, 0n, 1n, 2n][random(4)];
        const order = random(3) === 0 ? "asc" as const : undefined;
        const ids = Array.from(
          { length: 1 + random(4) },
          () => 1 + random(history.pets.length + 1),
        );
        if (random(2) === 0) {
          const earlier = random(heads.length);
          const query = random(3) === 0
            ? { limit: 4, ids: [...new Set(ids)] }
            : { limit, status, categoryId, order };
          const page = await reader.list(query, heads[earlier]);
          const total = totalOf(query, page, headOf(page, heads[earlier]));
          const isState = states.slice(earlier).some((pets) => {
            const expected = expectedPage(pets, query);
            return expected.text === page.text && expected.total === total;
          });
          assert(isState, words);
          continue;
        }
        const cursor = random(2) === 0 ? undefined : 1 + random(history.pets.length + 2);
        await assertShows(reader, history, { limit, status, categoryId, cursor, order }, words);
        await assertShows(reader, history, { limit: 20, status }, words);
        await assertShows(reader, history, { limit: 4, ids: [...new Set(ids)] }, words);
        const [id] = ids;
        const found = await reader.get(id, history.entry);
        assertEquals(found?.text, textOfPet(history.pets[id - 1]), words);
      }
    }
    for (const reader of readers) await assertShowsAll(reader, history, `seed ${seed}`);
  }
});

/**
 * Commits: changes of texts in several lists, and of statuses to earlier and later lists; an addition followed by a change
 * of an older pet, which no page may show without the new one; and removals, also of a pet that has just changed.
 */
const RACING: Step[][][] = [
  [[{ id: 7, patch: { name: "Max" } }, { id: 8, patch: { name: "Max" } }]],
  [[{ id: 5, patch: { status: "sold" } }, { id: 8, patch: { name: "Max" } }]],
  [[{ id: 7, patch: { status: "available" } }, { id: 9, patch: { name: "Max" } }]],
  [[{ id: 5, patch: { status: null } }, { id: 7, patch: { status: "pending" } }]],
  [[{ patch: { status: "sold" } }], [{ id: 7, patch: { status: "pending" } }]],
  [[{ id: 7 }]],
  [[{ id: 5, patch: { status: "sold" } }, { id: 7 }], [{ id: 5 }]],
];

Deno.test("list() and get() beside changes during any of their reads show one moment, and cache nothing older", async () => {
  const queries: (PageQuery | number)[] = [5, { limit: 100 }, { limit: 3, cursor: 10 }];
  queries.push(...PET_STATUSES.map((status) => ({ limit: 100, status })));
  queries.push({ limit: 2, status: "sold", cursor: 9 }, { limit: 3, ids: [5, 7, 8] });
  queries.push({ limit: 100, categoryId: 1n }, { limit: 4, order: "asc" });
  const races = queries.flatMap((query) =>
    RACING.flatMap((commits) =>
      [1, 2, 3].flatMap((number) =>
        (["before", "after"] as const).map((when) => ({ query, commits, number, when }))
      )
    )
  );
  for (const [index, race] of races.entries()) {
    if (index % SAMPLE_STEP !== 0) continue;
    const { query, commits, number, when } = race;
    const words = textOf(race);
    const history = await History.of(added(10));
    // In half of the races, ids have gaps before.
    if (index / SAMPLE_STEP % 2 === 1) await history.commit([{ id: 6 }]);
    let reads = -Infinity;
    const store = faultyStore(history.store, {
      async onSnapshot(apply) {
        if (++reads !== number) return await apply();
        const early = when === "after" ? await apply() : undefined;
        for (const steps of commits) await history.commit(steps);
        // A request that has seen the change begins new caches, and joins no read from before it.
        const later = await readOne(reader, query, history.entry);
        assert(showsOneOf([history.pets], query, later?.text), `${words}: ${later?.text}`);
        return early ?? await apply();
      },
    });
    const reader = petReaderOf(store);
    // Fills the index.
    await reader.list({ limit: 1, categoryId: 1n }, history.entry);
    reads = 0;
    const read = await readOne(reader, query, history.entry);
    if (typeof query === "number") {
      assert(showsOneOf([...history.states.values()], query, read?.text), words);
    } else assertIsAsOfItsHead(read as Page, history, query, words);
    reads = Infinity;
    await assertShowsAll(reader, history, words);
  }
});

Deno.test("get() and getState() read nothing of a pet that its own instance has changed, until another one changes a pet", async () => {
  const history = await History.of(added(3));
  const store = faultyStore(history.store);
  const reader = petReaderOf(store);
  const readCount = async (work: () => unknown) => {
    const before = store.gets.length + store.lists.length;
    await work();
    return store.gets.length + store.lists.length - before;
  };
  const positionOf = async (id: number) => (await reader.getState(id, history.entry))?.position;
  assertEquals(await positionOf(1), 1);
  assertEquals(await readCount(() => reader.getState(1, history.entry)), 0);
  reader.follow(await history.commit([{ id: 1, patch: { name: "Max" } }, { id: 2 }]));
  const reads = await readCount(async () => {
    assertEquals(await positionOf(1), 4);
    await assertShowsPet(reader, history, 1);
  });
  assertEquals(reads, 0);
  assertEquals(await reader.get(2, history.entry), undefined);
  const removed = await reader.getState(2, history.entry);
  assertEquals([removed?.pet.id, removed?.position, removed?.isRemoved], [2, 5, true]);
  await assertShowsAll(reader, history);
  // Another instance, whose commit the reader does not follow.
  await history.commit([{ id: 3, patch: { name: "Rex" } }]);
  reader.follow(await history.commit([{ id: 1, patch: { name: "Bob" } }]));
  assertEquals([await positionOf(1), await positionOf(3)], [7, 6]);
  await assertShowsAll(reader, history);
});

Deno.test("a read under way during a commit of its instance adds nothing older to the caches", async () => {
  const history = await History.of(added(2));
  const store = faultyStore(history.store);
  const reader = petReaderOf(store);
  const entry = history.entry;
  // The caches exist, and are as of this head.
  await reader.get(2, entry);
  for (const read of [() => reader.get(1, entry), () => reader.getState(1, entry)]) {
    const held = Promise.withResolvers<void>();
    store.onSnapshot = async (apply) => {
      const found = await apply();
      await held.promise;
      return found;
    };
    const reading = read();
    store.onSnapshot = (apply) => apply();
    reader.follow(
      await history.commit([{ id: 1, patch: { name: `Max ${history.lines.length}` } }]),
    );
    held.resolve();
    await reading;
    await assertShowsPet(reader, history, 1);
    const { position } = history.entry.head;
    assertEquals((await reader.getState(1, history.entry))?.position, position);
  }
});

Deno.test("list() answers with a page of a category as of one head, although pets enter, leave and change at each read", async () => {
  let mostReads = 0;
  for (const status of [undefined, "sold"] as const) {
    for (const [limit, cursor] of [[1], [3], [5, 9], [20]]) {
      const query = { limit, categoryId: 7n, status, cursor };
      const history = await History.of(
        Array.from({ length: 14 }, (_, index) => ({
          patch: {
            categoryId: BigInt(7 + index % 2),
            status: index % 3 === 0 ? "available" : "sold",
          },
        })),
      );
      let changes = 0;
      const store = faultyStore(history.store, {
        async onSnapshot(apply) {
          const number = ++changes;
          // At last, a pet of another category changes.
          const id = number < 5 ? 1 + number * 5 % 14 : 2;
          const categoryId = BigInt(8 - number % 2);
          const steps: Step[] = [{ id, patch: { name: `Max ${number}`, categoryId } }];
          if (number === 4) steps.push({ patch: { categoryId: 7n, status: "sold" } });
          if (number < 6) await history.commit(steps);
          return await apply();
        },
      });
      const page = await petReaderOf(store).list(query, history.entry);
      assertIsAsOfItsHead(page, history, query);
      mostReads = Math.max(mostReads, changes);
    }
  }
  assert(mostReads > 2, `${mostReads} reads`);
});

Deno.test("list() reads a page of a category again if the index was replaced while it was read", async () => {
  for (const isNewPet of [false, true]) {
    const history = await History.of([{ patch: { categoryId: 7n } }, {
      patch: { categoryId: 8n },
    }]);
    const { store } = history;
    const heads = new HeadReader(APPLICATION, store, new FakeRuntime());
    const openIndex = () =>
      new PetIndexReader({
        heads,
        store,
        runtime: new FakeRuntime(),
        report: () => {},
        turn: () => Promise.resolve(),
      });
    // As after a replay: an index that was filled later, from records that already have the change.
    let index = openIndex();
    await index.asOf(history.entry.head);
    let isChanged = false;
    const faulty = faultyStore(store, {
      async onSnapshot(apply) {
        if (isChanged) return await apply();
        isChanged = true;
        const id = isNewPet ? 2 : 1;
        await history.commit([{ id, patch: { categoryId: isNewPet ? 7n : 8n } }]);
        index = openIndex();
        await index.asOf(history.entry.head);
        return await apply();
      },
    });
    const reader = petReaderOf(faulty, {
      index: { asOf: (head) => index.asOf(head), isFilled: true },
    });
    const query = { limit: 5, categoryId: 7n };
    assertIsAsOfItsHead(await reader.list(query, history.entry), history, query);
  }
});

Deno.test("list() gives up a page of a category that pets enter or leave during each read", async () => {
  const history = await History.of(added(8));
  let now = 0;
  const store = faultyStore(history.store, {
    async onSnapshot(apply) {
      now += 100;
      const categoryId = BigInt(1 + now / 100 % 2);
      await history.commit([{ id: 3, patch: { categoryId } }]);
      return await apply();
    },
  });
  const reader = petReaderOf(store, { monotonicNow: () => now });
  const list = async () => await reader.list({ limit: 4, categoryId: 1n }, history.entry);
  const { code } = await assertRejects(list, ServiceError, "was changed during each read");
  assertEquals([code, now], ["store_unavailable", 1_100]);
});

Deno.test("list() refuses a page of a category if the record of a pet on it is missing or has another category", async () => {
  const query = { limit: 4, categoryId: 7n };
  const damages = [undefined, '1{"id":1,"name":"Zoë 1","categoryId":8}'];
  for (const content of damages) {
    const history = await History.of([{ patch: { categoryId: 7n } }]);
    const reader = petReaderOf(history.store);
    await reader.list(query, history.entry);
    await putRecord(history.store, recordOf(null, 1), content);
    // Another page than the cached one.
    const read = async () => await reader.list({ ...query, limit: 5 }, history.entry);
    await assertRejects(read, ServiceError, "pet 1 is missing, or has another category");
  }
});

Deno.test("list() answers with pets by their ids in two reads at most, all as of one head, although they are changed, removed and added at each read", async () => {
  for (const idsRead of [[1, 2, 3, 4], [2, 4, 11, 12, 99], [9, 8, 7, 6]]) {
    for (const cached of [[], [idsRead[1]], idsRead]) {
      const history = await History.of([...added(10), { id: 6 }]);
      const store = faultyStore(history.store, {});
      const reader = petReaderOf(store);
      for (const id of cached) await reader.get(id, history.entry);
      let reads = 0;
      store.onSnapshot = async (apply) => {
        const number = ++reads;
        const name = `Max ${number}`;
        const id = idsRead.find((id) => history.pets[id - 1] !== undefined)!;
        const isRemoval = number % 2 === 0;
        if (isRemoval) await history.commit([{ id }]);
        else await history.commit([{ patch: { name } }, { id, patch: { name } }]);
        return await apply();
      };
      const query = { limit: idsRead.length, ids: idsRead };
      const page = await reader.list(query, history.entry);
      assertIsAsOfItsHead(page, history, query);
      assert(reads <= 2, `${reads} reads`);
    }
  }
});

Deno.test("list() by ids, for a request whose head is before an addition, does not show the cached new pet as of that head", async () => {
  const history = await History.of(added(1));
  const { entry } = history;
  await history.commit(added(1));
  const reader = petReaderOf(history.store);
  for (const id of [1, 2]) await reader.get(id, history.entry);
  const query = { limit: 2, ids: [2, 1] };
  assertIsAsOfItsHead(await reader.list(query, entry), history, query);
});

Deno.test("list() and get() read the records of a new generation, which may correct those before it, and cache no earlier ones", async () => {
  const history = await History.of(added(4));
  const key = (generation: number) => projectionKey(generation, petKey("available", 1));
  const wrong = encoder.encode(`1${encodePet({ ...history.pets[0]!, name: "wrong" })}`);
  await commit(history.store, [setRecord(key(1), wrong)]);
  const { entry } = history;
  const reader = petReaderOf(history.store);
  const nameOf = async (at: HeadEntry) => JSON.parse((await reader.get(1, at))!.text).name;
  assertEquals(await nameOf(entry), "wrong");
  await commit(history.store, projectionMutations(2, project(APPLICATION, history.lines)));
  await history.commit([], 2);
  await reader.get(2, history.entry);
  // A request that still has the head before the new generation reads the records of the new one, too.
  assertEquals(await nameOf(entry), "Zoë 1");
  assertEquals((await reader.list({ limit: 100 }, entry)).text.includes("wrong"), false);
  await assertShowsAll(reader, history);
  assertEquals(await nameOf(entry), "Zoë 1");
  // A replay that does not wait for requests removes the generation that they read.
  const old = history.store.all(["projection", 1]);
  await commit(history.store, old.map(({ key }) => ({ type: "delete", key })));
  for (const status of LISTED) {
    const query = { limit: 100, status };
    const { text } = await petReaderOf(history.store).list(query, entry);
    assertEquals(text, expectedPage(history.pets, query).text);
  }
});

/** The ids of the pages of a walk, one page after the other. Between pages, `between` may change the store. */
async function walk(
  reader: PetReader,
  history: History,
  query: PageQuery,
  between = async () => {},
) {
  const pages: number[][] = [];
  let cursor: number | undefined;
  do {
    const page = await reader.list({ ...query, cursor }, history.entry);
    assertIsAsOfItsHead(page, history, { ...query, cursor });
    pages.push(JSON.parse(page.text).map(({ id }: Pet) => id));
    cursor = page.next;
    await between();
  } while (cursor !== undefined);
  return pages;
}

/** Pets 1 to 40 in four lists, without pets 19 and 20, and with pet 2 sold. */
async function historyWithGaps(): Promise<History> {
  const history = await History.of(added(40));
  await history.commit([{ id: 19 }, { id: 20 }, { id: 2, patch: { status: "sold" } }]);
  return history;
}

const recordOf = (status: PetStatus | null, id: number) =>
  projectionKey(1, petKey(petListOf(status), id));

Deno.test("list() rejects each page of all pets on which one is missing or twice, while no pet was ever removed", async () => {
  const elsewhere = '3{"id":3,"name":"Zoë 3","categoryId":1,"status":"pending"}';
  const damages: [Key, string | undefined][] = [
    [recordOf("sold", 3), undefined],
    [recordOf("pending", 3), elsewhere],
  ];
  for (const damage of damages) {
    const history = await History.of(added(40));
    await putRecord(history.store, ...damage);
    for (const query of [{ limit: 5, cursor: 6 }, { limit: 3, order: "asc", cursor: 1 } as const]) {
      const read = async () => await petReaderOf(history.store).list(query, history.entry);
      const { code } = await assertRejects(read, ServiceError);
      assertEquals(code, "projection_damaged");
    }
    await petReaderOf(history.store).list({ limit: 5, cursor: 20 }, history.entry);
  }
});

Deno.test("list() finds no fault in any walk of a sound store, whatever is added, changed or removed on the way", async () => {
  for (let seed = 1; seed <= 8; seed += SAMPLE_STEP) {
    const random = new Random(seed);
    const history = await historyWithGaps();
    const change = async () => {
      const id = random.integer(1, history.pets.length);
      const status = random.pick([...PET_STATUSES, null]);
      const before = history.pets[id - 1];
      const isChange = before !== undefined && before.status !== (status ?? undefined);
      const step = random.chance(0.4)
        ? { patch: { status } }
        : isChange && random.chance(0.7)
        ? { id, patch: { status } }
        : before !== undefined
        ? { id }
        : { patch: {} };
      await history.commit([step]);
    };
    const store = faultyStore(history.store, {
      async onSnapshot(apply) {
        if (random.chance(0.3)) await change();
        return await apply();
      },
    });
    const reader = petReaderOf(store);
    for (const status of LISTED) {
      for (const limit of [1, 3, 9, 40, 100]) {
        const between = async () => {
          if (random.chance(0.3)) await change();
        };
        await walk(
          reader,
          history,
          { limit, status, order: random.pick(["asc", "desc"]) },
          between,
        );
      }
    }
  }
});
