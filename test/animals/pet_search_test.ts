/** Searches by words, as they read the store. `interface/search` has what they find. */

import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { PET_STATUSES, type PetStatus } from "../../events/pet.ts";
import { SCAN_LIMIT, SEARCHES_LIMIT, SEARCHES_OF_KEY_LIMIT } from "../../src/animals/pet_search.ts";
import { petKey } from "../../src/animals/pet_keys.ts";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { EMPTY_HEAD, readHead } from "../../src/eventstore_less/log/head.ts";
import type { HeadReader } from "../../src/eventstore_less/log/head_reader.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import type { PetReaderDeps } from "../../src/animals/pet_reader.ts";
import { withChecksum } from "../../src/eventstore_less/store/checksum.ts";
import {
  type Store,
  STORE_LIMITS,
  type StoreEntry,
} from "../../src/eventstore_less/store/store.ts";
import { NO_INSTRUMENTATION } from "../../src/runtime/instrumentation.ts";
import { Random } from "../sim/random.ts";
import { petReaderOf } from "../support/pet_reader_of.ts";
import { readPage } from "../support/read_pages.ts";
import { SAMPLE_STEP } from "../support/sample_step.ts";
import { assertError } from "../support/assert_error.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";
import { utf8 } from "../support/utf8.ts";

interface Pet {
  id: number;
  name: string;
  categoryId: number;
  status?: PetStatus;
  note?: string;
}

const NAMES = [
  "Rex",
  "Max",
  "T. REX",
  "Zoë",
  "Zoe\u0308 ii",
  "rexine",
  "Straße",
  "a&b=c#d",
  "10\u200b0 %",
];
const STATUSES = [...PET_STATUSES, undefined];

/** Pets 1 to 36, each name with each status. */
async function addPets({ add }: TestService): Promise<void> {
  for (let index = 0; index < 36; index++) {
    const pet = {
      name: NAMES[index % 9],
      categoryId: 7 + index % 2,
      status: STATUSES[index >> 3 & 3],
    };
    await (await add(pet)).body?.cancel();
  }
}

Deno.test("metrics tell searches from lists, because searches may take seconds", async () => {
  const measured: (string | undefined)[] = [];
  const onResponse = (operation: string | undefined) => void measured.push(operation);
  await using service = await openTestService({
    instrumentation: { ...NO_INSTRUMENTATION, onResponse },
  });
  for (const query of ["", "?name=rex", "?name=", "?status=none", "?q=rex"]) {
    await (await service.send(`/v1/pets${query}`)).body?.cancel();
  }
  for (const query of ["", "?q=rex"]) {
    await (await service.send(`/v1/pets/summary${query}`)).body?.cancel();
  }
  await (await service.send("/v1/pets/1/events")).body?.cancel();
  await (await service.send("/v1/key")).body?.cancel();
  assertEquals(measured, [
    ...["listPets", "listPetsByName", "listPets", "listPets", "listPetsByName"],
    ...["summarizePets", "listPetsByName"],
    ...["listPetEvents", "getKey"],
  ]);
});

/** The pets that a query must show. */
function expectedIds(pets: Pet[], query: URLSearchParams): number[] {
  const [name, status, categoryId, cursor] = ["name", "status", "categoryId", "cursor"]
    .map((it) => query.get(it));
  return pets.filter((pet) =>
    pet.name.toUpperCase().includes(name!.toUpperCase()) &&
    (status === null || (pet.status ?? "none") === status) &&
    (categoryId === null || pet.categoryId === Number(categoryId)) &&
    (cursor === null || pet.id < Number(cursor))
  ).map(({ id }) => id).sort((one, other) => other - one);
}

/** A change of a pet. `pet` is the pet after it; absent if it was removed. */
interface Change {
  position: number;
  id: number;
  pet?: Pet;
}

/** The pets that a client has if it applies to a page the changes after its position. */
function followed(shown: Pet[], changes: Change[], position: number): Pet[] {
  const pets = new Map(shown.map((pet) => [pet.id, pet]));
  for (const change of changes.filter((it) => it.position > position)) {
    if (change.pet === undefined) pets.delete(change.id);
    else pets.set(change.id, change.pet);
  }
  return [...pets.values()];
}

Deno.test("a client that follows the feed after a page of a search has the pets of the query, although pets are added, changed and removed at each of its reads", async () => {
  const queries = [
    "name=rex",
    "name=rex&status=sold",
    "name=rex&status=none",
    "name=x&categoryId=7",
    "name=max&cursor=140",
    "name=rex&limit=3",
    "name=rex&categoryId=8&status=available&limit=2",
    "name=rex&order=asc",
  ];
  for (let seed = 1; seed <= 5; seed += SAMPLE_STEP) {
    const random = new Random(seed);
    await using service = await openTestService();
    // A scan reads them in several parts.
    for (let times = 1; times <= 5; times++) await addPets(service);
    const pets = new Map<number, Pet>();
    for (const cursor of [1_000, 81]) {
      const page = await service.send(`/v1/pets?limit=100&cursor=${cursor}`);
      for (const pet of await page.json()) pets.set(pet.id, pet);
    }
    const changes: Change[] = [];
    const change = async () => {
      const id = random.integer(1, 190);
      const patch = {
        name: random.pick(NAMES),
        status: random.pick([...PET_STATUSES, null]),
        categoryId: random.integer(7, 8),
      };
      let pet: Pet | undefined;
      if (!pets.has(id)) {
        pet = await (await service.add({ ...patch, status: patch.status ?? undefined })).json();
      } else if (random.chance(0.3)) assertEquals((await service.remove(id)).status, 204);
      else pet = await (await service.change(id, patch)).json();
      if (pet === undefined) pets.delete(id);
      else pets.set(pet.id, pet);
      const { head: { position } } = await readHead(APPLICATION, service.store);
      changes.push({ position, id: pet?.id ?? id, pet });
    };
    for (const query of queries) {
      const searcher = otherInstance(service);
      let isChanging = false;
      service.faults.onSnapshot = async (apply) => {
        // The changes read the store, too.
        if (isChanging) return await apply();
        isChanging = true;
        await change();
        isChanging = false;
        return await apply();
      };
      const response = await searcher.send(`/v1/pets?${query}`);
      service.faults.onSnapshot = (apply) => apply();
      assertEquals(response.status, 200);
      const shown: Pet[] = await response.json();
      const position = parseInt(response.headers.get("x-feed-position")!);
      const parameters = new URLSearchParams(query);
      const link = response.headers.get("link");
      const next = Number(/cursor=(\d+)>/.exec(link ?? "")?.[1] ?? 0);
      const isAscending = parameters.get("order") === "asc";
      const inPage = (id: number) => isAscending ? next === 0 || id <= next : id >= next;
      const idsIn = (some: Pet[]) => expectedIds(some, parameters).filter(inPage);
      const words = `seed ${seed} ${query}`;
      const client = followed(shown, changes, position);
      assertEquals(idsIn(client), idsIn([...pets.values()]), words);
      for (const pet of client) {
        if (idsIn([pet]).length > 0) assertEquals(pet, pets.get(pet.id), words);
      }
      assert(shown.length <= Number(parameters.get("limit") ?? 20), words);
    }
  }
});

/** A reader of many pets that are in no store, and the number of pets in each of its reads. */
function manyPets(
  count: number,
  nameOf: (id: number) => string,
  deps: Partial<PetReaderDeps> = {},
) {
  const reads: number[] = [];
  const statusOf = (id: number) => STATUSES[id % 4];
  const entryOf = (id: number): StoreEntry => {
    const status = statusOf(id);
    const key = projectionKey(1, petKey(status ?? "none", id));
    const ofStatus = status === undefined ? "" : `,"status":"${status}"`;
    const text = `${id}{"id":${id},"name":"${nameOf(id)}","categoryId":1${ofStatus}}`;
    return { key, value: withChecksum(key, utf8(text)), versionstamp: "1" };
  };
  const counts = Object.fromEntries(STATUSES.map((status, index) => {
    return [status ?? "none", Math.floor((count - index) / 4) + (index === 0 ? 0 : 1)];
  }));
  const types = { PetCreated: { version: "1", count, last: count } };
  const head = { ...EMPTY_HEAD, position: count, types, counts: { pets: counts } };
  const readWith: HeadReader["readWith"] = (_keys, ranges = [], { limit } = { limit: 0 }) => {
    const lists = ranges.map(({ start, end }) => {
      const [, list, first] = start;
      const entries: StoreEntry[] = [];
      let id = Math.min(end.at(-1) as number - 1, count);
      for (; id >= (first as number) && entries.length < limit; id--) {
        if ((statusOf(id) ?? "none") === list) entries.push(entryOf(id));
      }
      return entries;
    });
    reads.push(lists.flat().length);
    return Promise.resolve({ head, entries: [], lists });
  };
  const reader = petReaderOf({ limits: STORE_LIMITS } as Store, { heads: { readWith }, ...deps });
  return { reader, reads, entry: { head, versionstamp: "1" } };
}

Deno.test("a page reads at most 20,000 pets, and leads on although it is short or empty", async () => {
  let turns = 0;
  const { reader, reads, entry } = manyPets(
    100_000,
    (id) => id === 99_000 || id === 1_000 ? "Rex" : "Max",
    { turn: () => Promise.resolve(void turns++) },
  );
  const pages: [ids: number[], read: number][] = [];
  let cursor: number | undefined;
  do {
    reads.length = 0;
    turns = 0;
    const page = await reader.list({ limit: 20, name: "rex", cursor }, entry);
    assertEquals(turns, reads.length);
    const read = reads.reduce((sum, count) => sum + count, 0);
    assert(read <= SCAN_LIMIT, `${read} pets`);
    for (const count of reads) assert(count <= 128);
    pages.push([JSON.parse(page.text).map(({ id }: Pet) => id), read]);
    cursor = page.next;
  } while (cursor !== undefined);
  assertEquals(pages.map(([ids]) => ids), [[99_000], [], [], [], [1_000]]);
  for (const [, read] of pages.slice(0, -1)) assertEquals(read, SCAN_LIMIT);
});

Deno.test("a summary reads at most 20,000 pets, and the summaries of the rest have the others", async () => {
  const nameOf = (id: number) => id % 1_000 === 0 ? "Rex" : "Max";
  const { reader, entry } = manyPets(50_000, nameOf);
  const found: number[] = [];
  let cursor: number | undefined;
  do {
    const page: { text: string; next?: number } = await reader.summarize(
      { name: "rex", cursor },
      entry,
    );
    found.push(JSON.parse(page.text).counts.available);
    cursor = page.next;
  } while (cursor !== undefined);
  assertEquals(found, [20, 20, 10]);
});

Deno.test("the Link header of a summary that ends in time leads to the rest", async () => {
  await using service = await openTestService();
  const { faults, runtime, send } = service;
  for (let count = 0; count < 2; count++) {
    const add = { action: "add", body: { name: "Rex", categoryId: 7 } };
    const body = JSON.stringify({ operations: Array(100).fill(add) });
    const headers = { "content-type": "application/json" };
    await (await send("/v1/pets/batch", { method: "POST", headers, body })).body?.cancel();
  }
  // A search has time for one read of animals, and not for two.
  faults.onSnapshot = async (apply, _keys, ranges) => {
    const read = await apply();
    if (ranges.length > 0) await runtime.advance(1_100);
    return read;
  };
  const counted = ({ counts }: { counts: { none: number } }) => counts.none;
  for (const path of ["/v1/pets/summary?name=rex", "/v1/pets/summary?q=rex"]) {
    const first = await send(path);
    const next = new URL(/^<([^>]+)>; rel="next"$/.exec(first.headers.get("link")!)![1]);
    assertMatch(next.pathname + next.search, new RegExp(`^${RegExp.escape(path)}&cursor=\\d+$`));
    const rest = await send(next.pathname + next.search);
    assertEquals(counted(await first.json()) + counted(await rest.json()), 200);
  }
});

Deno.test("a search takes another turn within a read if its turn is over", async () => {
  let pets = 0;
  let turns = 0;
  const { reader, reads, entry } = manyPets(8, () => "Rex", {
    turn: () => Promise.resolve(void turns++),
    isRestDue: () => ++pets % 2 === 0,
  });
  await reader.list({ limit: 20, name: "rex" }, entry);
  assertEquals([reads.length, pets, turns], [1, 8, 1 + 4]);
});

Deno.test("a page of a search ends in time, but never without having passed a pet", async () => {
  for (const msARead of [200, 2_000, 20_000]) {
    const monotonicNow = () => many.reads.length * msARead;
    const nameOf = (id: number) => id === 1 ? "Rex" : "Max";
    const many = manyPets(200, nameOf, { monotonicNow });
    const { reader, reads, entry } = many;
    const found: number[] = [];
    let cursor: number | undefined;
    do {
      reads.length = 0;
      const page: { text: string; next?: number } = await reader.list(
        { limit: 20, name: "rex", cursor },
        entry,
      );
      assert(reads.length <= 2_000 / msARead + 1, `${reads.length} reads`);
      assert(page.next === undefined || page.next < (cursor ?? Infinity));
      found.push(...JSON.parse(page.text).map(({ id }: Pet) => id));
      cursor = page.next;
    } while (cursor !== undefined);
    assertEquals(found, [1]);
  }
});

Deno.test("a page of a search ends in time, also if names take long and others have their turns between them", async () => {
  // The same as 100 searches for names of 18,000 characters in the form in which they are compared.
  const [turnMs, nameMs, namesOfTurn] = [1_200, 1, 3];
  let now = 0;
  let turns = 0;
  let looked = 0;
  const { reader, entry } = manyPets(60, (id) => id % 7 === 0 ? "Rex" : "Max", {
    monotonicNow: () => now,
    turn: () => {
      now += turnMs;
      turns++;
      return Promise.resolve();
    },
    isRestDue: () => {
      now += nameMs;
      looked++;
      return looked % namesOfTurn === 0;
    },
  });
  const found: number[] = [];
  let cursor: number | undefined;
  do {
    const start = now;
    const page: { text: string; next?: number } = await reader.list(
      { limit: 20, name: "rex", cursor },
      entry,
    );
    assert(now - start <= 2_000 + turnMs + namesOfTurn * nameMs, `${now - start} ms`);
    assert(page.next === undefined || page.next < (cursor ?? Infinity));
    found.push(...JSON.parse(page.text).map(({ id }: Pet) => id));
    cursor = page.next;
  } while (cursor !== undefined);
  assertEquals(found, [56, 49, 42, 35, 28, 21, 14, 7]);
});

Deno.test("searches for the same share a scan, and beyond the places of a key or of all are refused", async () => {
  const { promise, resolve: begin } = Promise.withResolvers<void>();
  const { reader, reads, entry } = manyPets(8, () => "Rex", { turn: () => promise });
  const search = async (name: string, apiKeyId: string) => {
    return (await reader.list({ limit: 20, name }, entry, apiKeyId)).text;
  };
  const codeOf = async (name: string, apiKeyId: string) => {
    const { code } = await assertRejects(() => search(name, apiKeyId), ServiceError);
    return code;
  };
  const keys = ["key 1", "key 2", "key 3", "key 4"];
  const names = Array.from({ length: SEARCHES_LIMIT / keys.length }, (_, index) => `Max ${index}`);
  const searches: Promise<string>[] = [];
  for (const key of keys) {
    searches.push(...names.map((name) => search(`${name} of ${key}`, key)));
    const expected = key === "key 4" ? "overloaded" : "rate_limited";
    assertEquals(await codeOf("rex", key), expected);
  }
  assertEquals(await codeOf("rex", "key 5"), "overloaded");
  // The search of another one takes no place.
  searches.push(...names.map((name) => search(`${name} of key 1`, "key 2")));
  begin();
  assertEquals(new Set(await Promise.all(searches)), new Set(["[]"]));
  assertEquals(reads.length, SEARCHES_LIMIT);
  assertEquals(JSON.parse(await search("rex", "key 1")).length, 8);
});

Deno.test("a key that uses all its places for searches gets 429, and takes none of other keys", async () => {
  await using service = await openTestService();
  const { faults, send } = service;
  await addPets(service);
  const { token } = await issueApiKey(service, { label: "other" });
  // The first request with a key after an event of a key reads its records.
  await (await send("/v1/key")).body?.cancel();
  const held = Promise.withResolvers<void>();
  faults.onSnapshot = async (apply) => {
    await held.promise;
    return await apply();
  };
  const names = Array.from({ length: SEARCHES_OF_KEY_LIMIT }, (_, index) => `Rex ${index}`);
  const searches = names.map((name) => send(`/v1/pets?name=${name}`));
  await assertError(await send("/v1/pets?name=rex"), {
    status: 429,
    code: "rate_limited",
    message: /search 25 times at once/,
  });
  const headers = { authorization: `Bearer ${token}` };
  const other = service.sendBare("/v1/pets?name=rex", { headers });
  held.resolve();
  for (const response of await Promise.all(searches)) {
    assertEquals([response.status, await response.json()], [200, []]);
  }
  assertEquals((await (await other).json()).length, 12);
  assertEquals((await readPage<Pet>(service, "/v1/pets?name=rex&limit=100")).items.length, 12);
});
