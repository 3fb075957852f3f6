/** A damaged record of any kind is an error to a client, and no event is ever built on it. */

import { audit } from "../support/tools.ts";
import { PET_LISTS, petKey, removedPetKey } from "../../src/animals/pet_keys.ts";
import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { checkedContent } from "../../src/eventstore_less/store/checksum.ts";
import { scan } from "../../src/eventstore_less/store/scan.ts";
import type { Key, Mutation, StoreEntry } from "../../src/eventstore_less/store/store.ts";
import { StoreDamagedError } from "../../src/eventstore_less/store/store_errors.ts";
import { readLogLines } from "../support/sound_log.ts";
import { setRecord } from "../support/set_record.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";
import { utf8 } from "../support/utf8.ts";
import { SAMPLE_STEP } from "../support/sample_step.ts";
import { commit } from "../support/store_contract.ts";

const REX = { name: "Rex", categoryId: 7 };
const ONCE = { "idempotency-key": "order-1" };

/** A service with records of every kind. Pet 1 was changed, and pet 3 was removed. */
async function open(): Promise<TestService> {
  const service = await openTestService();
  await service.add({ ...REX, status: "sold" }, ONCE);
  await service.add({ name: "Zoë", categoryId: 8, status: "available" });
  await service.add(REX);
  await service.change(1, { status: "pending" });
  await service.remove(3);
  return service;
}

/** Sends each request to an instance without caches, and resolves to the statuses and bodies. */
async function answersOf(service: TestService) {
  const requests: ((client: ReturnType<typeof otherInstance>) => Promise<Response>)[] = [
    (client) => client.send("/v1/pets"),
    (client) => client.send("/v1/pets?status=pending"),
    (client) => client.send("/v1/pets?categoryId=7"),
    (client) => client.send("/v1/pets/1"),
    (client) => client.send("/v1/pets/3"),
    (client) => client.send("/v1/pets/1/events"),
    (client) => client.send("/v1/pets?name=re"),
    (client) => client.send("/v1/events"),
    (client) => client.add({ ...REX, status: "sold" }, ONCE),
    (client) => client.change(1, { status: "available" }),
  ];
  const answers = [];
  for (const request of requests) {
    const response = await request(otherInstance(service));
    answers.push({ status: response.status, body: await response.text() });
  }
  return answers;
}

async function change(service: TestService, mutations: Mutation[]): Promise<void> {
  await commit(service.store, mutations);
}

const whole = (key: Key, value: Uint8Array): Mutation => ({ type: "set", key, value });

Deno.test("a flipped bit or a misplaced record leads to no wrong response, and to no event", async () => {
  await using service = await open();
  const { store } = service;
  const before = await answersOf(service);
  const statuses = before.map(({ status }) => status).join();
  assertEquals(statuses, "200,200,200,200,404,200,200,200,201,200");
  const entries = (await Array.fromAsync(scan(store, { prefix: [] }))).flat();
  const right = await answersOf(service);
  const lines = await readLogLines(store);
  const kinds = new Map(entries.map((entry) => [String(entry.key[2] ?? entry.key[0]), 0]));
  for (const [index, { key, value }] of entries.entries()) {
    const own = value as Uint8Array;
    const kind = String(key[2] ?? key[0]);
    const places = Array.from({ length: 15 }, (_, place) => Math.floor(place * own.length / 15));
    const damages = [
      ...places.map((place) => own.with(place, own[place] ^ 1 << place % 8)),
      own.subarray(0, own.length - 1),
      new Uint8Array([...own, ...own]),
      entries[(index + 1) % entries.length].value as Uint8Array,
    ];
    for (const damage of damages.filter((_, place) => place % SAMPLE_STEP === 0)) {
      await change(service, [whole(key, damage)]);
      const answers = await answersOf(service);
      const wrong = answers.filter(({ status, body }, request) =>
        status < 500 && (status !== right[request].status || body !== right[request].body)
      );
      assertEquals(wrong, [], String(key));
      if (answers.some(({ status }) => status >= 500)) kinds.set(kind, kinds.get(kind)! + 1);
      assert(!(await audit(service)).sound, String(key));
      await change(service, [whole(key, own)]);
      assertEquals(await readLogLines(store), lines, String(key));
    }
  }
  for (const [kind, failed] of kinds) assert(failed >= 15 / SAMPLE_STEP, `${kind}: ${failed}`);
});

/** Lists in which a lost pending pet of category 7 is missed. */
const LISTS_OF_LOST = ["", "?status=pending", "?categoryId=7", "?name=ex&status=pending"];

Deno.test("a pet with no record, or with two, is an error of each request for it and of its lists, and no event follows", async () => {
  await using service = await open();
  const { store } = service;
  const lines = await readLogLines(store);
  const removal = projectionKey(1, removedPetKey(3));
  const damages: [petId: number, key: Key, content: string | undefined, lists: string[]][] = [
    [1, projectionKey(1, petKey("pending", 1)), undefined, LISTS_OF_LOST],
    [2, projectionKey(1, petKey("available", 2)), undefined, ["", "?status=available"]],
    [3, removal, undefined, []],
    // The pet is in two lists, or in one although it was removed.
    [
      1,
      projectionKey(1, petKey("sold", 1)),
      '5{"id":1,"name":"Rex","categoryId":7,"status":"sold"}',
      ["", "?status=sold", "?name=ex"],
    ],
    [3, projectionKey(1, petKey("none", 3)), '4{"id":3,"name":"Rex","categoryId":7}', [
      "",
      "?status=none",
    ]],
  ];
  for (const [petId, key, content, lists] of damages) {
    const own = await store.get(key);
    const damage: Mutation = content === undefined
      ? { type: "delete", key }
      : setRecord(key, content);
    await change(service, [damage]);
    const client = otherInstance(service);
    const requests = [
      () => client.send(`/v1/pets/${petId}`),
      () => client.send(`/v1/pets?ids=${petId},${petId + 1}`),
      () => client.change(petId, { name: "Max" }),
      () => client.remove(petId),
      ...lists.map((query) => () => client.send(`/v1/pets${query}`)),
    ];
    // The second request must not get from a cache what the first one refused.
    for (const [index, request] of requests.flatMap((it) => [it, it]).entries()) {
      const response = await request();
      const { code } = await response.json();
      const words = `request ${index} of pet ${petId}, ${content}`;
      assertEquals([response.status, code], [500, "projection_damaged"], words);
    }
    assertEquals(await readLogLines(store), lines);
    assert(!(await audit(service)).sound);
    await change(service, [
      own === null ? { type: "delete", key } : whole(key, own.value as Uint8Array),
    ]);
  }
  const client = otherInstance(service);
  assertEquals((await client.send("/v1/pets/2")).status, 200);
  assertEquals((await client.send("/v1/pets/3")).status, 404);
  assertEquals((await client.remove(3)).status, 404);
  assertEquals(await client.listIds("ids=3,2,1"), [2, 1]);
  assertEquals((await audit(service)).faults, []);
});

type Forgery = [kind: string, from: string | RegExp, to: string];

/** Edits of records that get a fitting checksum: the fault, an expiry, a read-only flag, and others. */
const FORGERIES: Forgery[] = [
  ["pet", "Rex", "Sex"],
  ["pet", '"categoryId":7', '"categoryId":9'],
  ["pet", '"id":1', '"id":2'],
  // The positions of nothing, of the addition of the pet, of another pet and of no event.
  ...["0", "2", "3", "99"].map((position): Forgery => ["pet", /^\d+/, position]),
  ["pet", "}", ',"color":"red"}'],
  ["issued_key", '"label":"test"', '"label":"test","expiresAt":"2999-01-01T00:00:00.000Z"'],
  ["issued_key", '"label":"test"', '"label":"test","readOnly":true'],
  ["issued_key", '"label":"test"', '"label":"best"'],
  ["key_state", "}", ',"revokedAt":"2999-01-01T00:00:00.000Z"}'],
  ["key_state", '"position":1', '"position":2'],
  ["event_by_idempotency_key", '"2026', '"2027'],
];

Deno.test("no event is built on a record that its event does not prove, although its checksum fits", async () => {
  await using service = await open();
  const { store } = service;
  const lines = await readLogLines(store);
  const keys = PET_LISTS.map((list) => projectionKey(1, petKey(list, 1)));
  const read = await store.snapshot(keys, [], { limit: 0 });
  const pet = read.entries.find((entry) => entry !== null)!;
  const entries = (await Array.fromAsync(scan(store, { prefix: ["projection"] }))).flat();
  for (const [kind, from, to] of FORGERIES) {
    const entry: StoreEntry = kind === "pet" ? pet : entries.find(({ key }) => key[2] === kind)!;
    const content = new TextDecoder().decode(checkedContent(entry));
    assertNotEquals(content.replace(from, to), content);
    await change(service, [setRecord(entry.key, utf8(content.replace(from, to)))]);
    const client = otherInstance(service);
    const response = kind === "event_by_idempotency_key"
      ? await client.add({ ...REX, status: "sold" }, ONCE)
      : await client.change(1, { status: "available" });
    const { code } = await response.json();
    assertEquals([response.status, code], [500, "projection_damaged"], `${kind} ${to}`);
    if (kind === "pet") {
      const history = await client.send("/v1/pets/1/events");
      assertEquals(history.status, 500, to);
      await history.body?.cancel();
    }
    assertEquals(await readLogLines(store), lines);
    assert(!(await audit(service)).sound);
    await change(service, [whole(entry.key, entry.value as Uint8Array)]);
  }
  assertEquals((await otherInstance(service).change(1, { status: "available" })).status, 200);
});

Deno.test("after damage of the store's file was found, no list or search is served, and a pet by its id is", async () => {
  await using service = await openTestService();
  for (const name of ["Rex", "Max"]) await service.add({ ...REX, name });
  const queries = ["", "?status=available", "?categoryId=7", "?name=ex", "?ids=1,2", "?limit=1"];
  const listed = () =>
    Promise.all(queries.map(async (query) => {
      const response = await service.send(`/v1/pets${query}`);
      const { code } = await response.json();
      return [query, response.status, code];
    }));
  // The pages are cached.
  assertEquals(await listed(), queries.map((query) => [query, 200, undefined]));
  service.noteDamage(new StoreDamagedError("a damage"));
  assertEquals(await listed(), queries.map((query) => [query, 503, "store_unavailable"]));
  for (const path of ["/v1/pets/1", "/v1/pets/1/events", "/v1/events"]) {
    const response = await service.send(path);
    assertEquals(response.status, 200, path);
    await response.body?.cancel();
  }
});
