/** createPet(), updatePet(), removePet() and restorePet() decide on the newest state, and write once for each Idempotency-Key, however repeated. */

import { audit, replay } from "../support/tools.ts";
import { hmacSha256Hex } from "../../src/eventstore_less/encoding/sha256.ts";
import { APPLICATION } from "../../src/application.ts";
import type { PetEvent } from "../../src/animals/pet_event.ts";
import { stateAfter } from "../../src/animals/pet_state.ts";
import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { decodeEvent, GENESIS_HASH } from "../../src/eventstore_less/log/event.ts";
import { encodePet, type NewPet } from "../../events/pet.ts";
import { issueApiKey, revokeApiKey } from "../../src/keys/write_api_key.ts";
import {
  additionRule,
  changeRule,
  createPet,
  removalRule,
  removePet,
  restorePet,
  restoreRule,
  updatePet,
  type UpdatePetRequest,
} from "../../src/animals/write_pet.ts";
import { IDEMPOTENCY_LIFETIME_MS, projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { ApiKeyReader } from "../../src/keys/api_key_reader.ts";
import { addEvent, draftOf, EMPTY_HEAD } from "../../src/eventstore_less/log/head.ts";
import { createService } from "../../src/service.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import { petReaderOf } from "../support/pet_reader_of.ts";
import { COMMIT_FAULTS, hold } from "../support/faulty_store.ts";
import { readLogLines } from "../support/sound_log.ts";
import { openTestService, type TestService } from "../support/test_service.ts";

const REX = '{"id":1,"name":"Rex","categoryId":1,"status":"available"}';
const SOLD = REX.replace("available", "sold");
const SELL = { petId: 1, patch: { status: "sold" as const } };
const KEY = { idempotencyKey: "order-4711" };

/** A service with Rex, and its commands, as on that instance and on another one. */
async function openWithRex() {
  const service = await openTestService();
  await service.add(REX.replace('"id":1,', ""));
  const { store, runtime, faults: faulty } = service;
  const here = commandsOn(service, service);
  const there = commandsOn(createService({ store, runtime, report: () => {} }), service);
  const events = async () =>
    (await readLogLines(store)).slice(2).map((line) => decodeEvent(APPLICATION, line));
  const all = <T>(requests: Promise<T>[]) => runtime.settle(Promise.all(requests));
  const { [Symbol.asyncDispose]: dispose } = service;
  return { service, faulty, here, there, events, all, [Symbol.asyncDispose]: dispose };
}

function commandsOn(
  { append, store, runtime }: ReturnType<typeof createService>,
  { token }: TestService,
) {
  const apiKeys = new ApiKeyReader(store, runtime);
  const pets = petReaderOf(store);
  const deps = { append, store, runtime, apiKeys, pets };
  return {
    update: (request: Partial<UpdatePetRequest> = {}) =>
      updatePet(deps, { ...SELL, token, ...request }),
    remove: (request: Partial<Parameters<typeof removePet>[1]> = {}) =>
      removePet(deps, { petId: 1, token, ...request }),
    restore: (request: Partial<Parameters<typeof restorePet>[1]> = {}) =>
      restorePet(deps, { petId: 1, token, ...request }),
    add: (request: Partial<Parameters<typeof createPet>[1]> = {}) =>
      createPet(deps, { pet: { name: "Ada", categoryId: 2n }, token, ...request }),
  };
}

/** The code with which a request is refused. */
const codeOf = async (pending: Promise<unknown>) =>
  (await assertRejects(() => pending, ServiceError)).code;

const adaAt = (id: number, isDuplicate: boolean) => {
  return { id, text: `{"id":${id},"name":"Ada","categoryId":2}`, isDuplicate };
};

type Body = Parameters<ReturnType<typeof additionRule>["isOutcome"]>[0];
type Change = Parameters<typeof changeRule>[0];
type Removal = Parameters<typeof removalRule>[0];
type Restore = { restore: Parameters<typeof restoreRule>[0] };
type When = NewPet | Change | Removal | Restore;

const PET = { id: 1, name: "Rex", categoryId: 1n, status: "available" } as const;
const { id: _, ...NEW } = PET;
const ADDED: Body = { type: "PetCreated", data: PET };
const SALE = { ...PET, status: "sold", previous: { status: "available" } } as const;
const SOLD_PET = { ...PET, status: "sold" } as const;
const REMOVED: Body = { type: "PetRemoved", data: PET };
const REMOVE = { petId: 1 };
const RESTORED: Body = { type: "PetRestored", data: PET };
const RESTORE = { restore: REMOVE };
const ERASED = { ...PET, name: "(removed) 2" };
const IF_REX_REMOVE = { ...REMOVE, isExpected: (text: string) => text === REX };
const CHANGED: Body = { type: "PetUpdated", data: SALE };
const ADA = { name: "Ada", categoryId: 2n };
const IF_REX = { ...SELL, isExpected: (text: string) => text === REX };
const MAX = { id: 1, name: "Max", categoryId: 1n, previous: { name: "Rex", status: "sold" } };

/** Events, a pet to add, a change or a removal, and the data of its event, or the code with which it is refused. */
const RULES: [given: Body[], when: When, then: object | string | undefined][] = [
  [[], NEW, PET],
  [[ADDED, CHANGED], ADA, { id: 2, ...ADA }],
  [[ADDED], SELL, SALE],
  [[ADDED], IF_REX, SALE],
  [[ADDED, CHANGED], { petId: 1, patch: { status: null, name: "Max" } }, MAX],
  [[ADDED], { petId: 1, patch: { name: "Rex" } }, undefined],
  [[ADDED, CHANGED], SELL, undefined],
  [[], SELL, "pet_not_found"],
  [[ADDED], { ...IF_REX, petId: 2 }, "pet_not_found"],
  [[ADDED, CHANGED], IF_REX, "precondition_failed"],
  [[ADDED], REMOVE, PET],
  [[ADDED], IF_REX_REMOVE, PET],
  [[ADDED, CHANGED], REMOVE, SOLD_PET],
  [[ADDED, CHANGED], IF_REX_REMOVE, "precondition_failed"],
  [[ADDED], { ...SELL, isExcluded: (text: string) => text === REX }, "precondition_failed"],
  [[ADDED, CHANGED], { ...REMOVE, isExcluded: (text: string) => text === REX }, SOLD_PET],
  [[ADDED], { ...REMOVE, isExcluded: () => true }, "precondition_failed"],
  [[], { ...SELL, isExcluded: () => true }, "pet_not_found"],
  [[], REMOVE, "pet_not_found"],
  [[ADDED, REMOVED], REMOVE, "pet_not_found"],
  [[ADDED, REMOVED], IF_REX_REMOVE, "pet_not_found"],
  [[ADDED, REMOVED], SELL, "pet_not_found"],
  [[ADDED, REMOVED], ADA, { id: 2, ...ADA }],
  [[ADDED, REMOVED], RESTORE, PET],
  [[ADDED, REMOVED], { restore: IF_REX_REMOVE }, PET],
  [[ADDED, CHANGED, { ...REMOVED, data: SOLD_PET }], RESTORE, SOLD_PET],
  [[ADDED, REMOVED], { restore: { ...REMOVE, isExpected: () => false } }, "precondition_failed"],
  [[ADDED, REMOVED], { restore: { ...REMOVE, isExcluded: () => true } }, "precondition_failed"],
  [[], RESTORE, "pet_not_found"],
  [[], { restore: { ...REMOVE, isExpected: () => false } }, "pet_not_found"],
  [[ADDED], RESTORE, "pet_not_removed"],
  [[ADDED], { restore: { ...REMOVE, isExpected: () => false } }, "pet_not_removed"],
  [[{ ...ADDED, data: ERASED }, { ...REMOVED, data: ERASED }], RESTORE, "pet_erased"],
  [[ADDED, { ...REMOVED, data: { ...PET, name: "(removed) Rex" } }], RESTORE, {
    ...PET,
    name: "(removed) Rex",
  }],
  [[ADDED, REMOVED, RESTORED], RESTORE, "pet_not_removed"],
  [[ADDED, REMOVED, RESTORED], SELL, SALE],
  [[ADDED, REMOVED, RESTORED], REMOVE, PET],
  [[ADDED, REMOVED, RESTORED, REMOVED], RESTORE, PET],
  [[ADDED, REMOVED, RESTORED], ADA, { id: 2, ...ADA }],
];

const METADATA = { id: "", time: "2026-01-01T00:00:00.000Z", actor: "" };

function ruleOf(when: When) {
  if ("name" in when) return additionRule(when);
  if ("restore" in when) return restoreRule(when.restore);
  return "patch" in when ? changeRule(when) : removalRule(when);
}

/** The decision of the rule of a request on the pets after those events. */
function decideAfter(given: Body[], when: When) {
  const events = given.map((body, index) => {
    return { ...body, ...METADATA, position: index + 1, previousHash: GENESIS_HASH };
  });
  const rule = ruleOf(when);
  const head = draftOf(EMPTY_HEAD);
  for (const event of events) addEvent(APPLICATION, head, event, GENESIS_HASH);
  const last = events.findLast(({ data }) => data.id === rule.petId);
  return rule.decide(head, last && stateAfter(last as PetEvent));
}

Deno.test("given events, the rule of an addition, a change, a removal or a restore decides an event, nothing or a refusal", () => {
  for (const [given, when, then] of RULES) {
    const decide = () => decideAfter(given, when);
    if (typeof then === "string") assertEquals(assertThrows(decide, ServiceError).code, then);
    else assertEquals(decide()?.data, then);
  }
});

/** An event, a request with the same Idempotency-Key, and whether that event is its outcome. */
const OUTCOMES: [earlier: Body, when: When, isOutcome: boolean][] = [
  [ADDED, NEW, true],
  [ADDED, { ...NEW, name: "rex" }, false],
  [ADDED, { ...NEW, status: undefined }, false],
  [ADDED, { petId: 1, patch: { name: "Rex" } }, false],
  [CHANGED, IF_REX, true],
  [CHANGED, NEW, false],
  [CHANGED, { ...SELL, petId: 2 }, false],
  [CHANGED, { petId: 1, patch: { status: "pending" } }, false],
  [CHANGED, { petId: 1, patch: { status: "sold", name: "Max" } }, false],
  [REMOVED, REMOVE, true],
  [REMOVED, { ...REMOVE, isExpected: () => false }, true],
  [REMOVED, { petId: 2 }, false],
  [REMOVED, NEW, false],
  [REMOVED, { petId: 1, patch: { name: "Rex" } }, false],
  [ADDED, REMOVE, false],
  [CHANGED, REMOVE, false],
  [RESTORED, RESTORE, true],
  [RESTORED, { restore: { ...REMOVE, isExpected: () => false } }, true],
  [RESTORED, { restore: { petId: 2 } }, false],
  [RESTORED, REMOVE, false],
  [RESTORED, NEW, false],
  [REMOVED, RESTORE, false],
];

Deno.test("an event is the outcome of a request that means the same, and of no other", () => {
  for (const [earlier, when, isOutcome] of OUTCOMES) {
    assertEquals(ruleOf(when).isOutcome(earlier), isOutcome);
  }
});

Deno.test("A command whose API key ended before its event is refused, although the clock was set back meanwhile", async () => {
  await using opened = await openWithRex();
  const { service: { runtime }, service, here: { add } } = opened;
  const terms = { label: "short", expiresAt: runtime.now() + 60_000 };
  const { token } = await issueApiKey(service, terms);
  await runtime.advance(60_000);
  // The time of the event is that at which the command comes.
  const adding = codeOf(add({ token }));
  runtime.jumpClock(-3_600_000);
  assertEquals(await runtime.settle(adding), "invalid_credentials");
});

Deno.test("updatePet() loses no change of many at once, and lets one of many of an expected pet succeed, on two instances", async () => {
  await using opened = await openWithRex();
  const { here, there, events, all } = opened;
  const names = Array.from({ length: 20 }, (_, index) => `Rex ${index}`);
  await all(names.map((name, index) => [here, there][index % 2].update({ patch: { name } })));
  const changes = (await events()).map(({ data }) =>
    data as PetEvent["data"] & { previous: object }
  );
  assertEquals(changes.map(({ name }) => name).sort(), names.sort());
  for (const [index, { previous }] of changes.entries()) {
    assertEquals(previous, { name: index === 0 ? "Rex" : changes[index - 1].name });
  }
  const isExpected = (text: string) => text.includes(changes[19].name);
  const codes = await all(
    [here, there, here, there, here].map(({ update }, index) =>
      update({ patch: { name: `Max ${index}` }, isExpected }).then(() => "", ({ code }) => code)
    ),
  );
  assertEquals(codes.sort(), ["", ...Array(4).fill("precondition_failed")]);
});

/** Requests that share commits, on one instance or on two, and what becomes of each: an event, a duplicate or a refusal. */
const TOGETHER: [
  requests: ("remove" | "restore" | "sell" | "name" | "if-rex" | "once")[],
  outcomes: string[],
][] = [
  [["remove", "remove"], ["PetRemoved", "pet_not_found"]],
  [["sell", "remove"], ["PetUpdated", "PetRemoved"]],
  [["sell", "name", "remove", "sell"], ["PetUpdated", "PetUpdated", "PetRemoved", "pet_not_found"]],
  [["remove", "sell", "remove"], ["PetRemoved", "pet_not_found", "pet_not_found"]],
  // A refusal that depends on the commit is decided again after it.
  [["sell", "if-rex", "remove"], ["PetUpdated", "pet_not_found", "PetRemoved"]],
  [["sell", "if-rex", "name"], ["PetUpdated", "precondition_failed", "PetUpdated"]],
  [["if-rex", "if-rex", "sell"], ["PetRemoved", "pet_not_found", "pet_not_found"]],
  [["once", "once", "remove"], ["PetRemoved", "duplicate", "pet_not_found"]],
  [["remove", "once", "once"], ["PetRemoved", "pet_not_found", "pet_not_found"]],
  [["sell", "once", "sell", "once"], ["PetUpdated", "PetRemoved", "pet_not_found", "duplicate"]],
  [["restore", "remove", "restore"], ["pet_not_removed", "PetRemoved", "PetRestored"]],
  [["remove", "restore", "restore"], ["PetRemoved", "PetRestored", "pet_not_removed"]],
  [["sell", "remove", "restore", "name"], [
    "PetUpdated",
    "PetRemoved",
    "PetRestored",
    "PetUpdated",
  ]],
  [["remove", "restore", "once", "sell"], [
    "PetRemoved",
    "PetRestored",
    "PetRemoved",
    "pet_not_found",
  ]],
];

Deno.test("removePet() removes a pet once, and restorePet() restores it once, as the commands before have left it", async () => {
  for (const [requests, outcomes] of TOGETHER) {
    await using opened = await openWithRex();
    const { service, here, there, faulty, events, all } = opened;
    const { fault, reached, release } = hold();
    faulty.nextCommits.push(fault);
    const first = here.add();
    await reached;
    const sent = requests.map((request) => {
      const isExpected = request === "if-rex" ? (text: string) => text === REX : undefined;
      if (request === "sell") return here.update();
      if (request === "name") return here.update({ patch: { name: "Max" } });
      if (request === "restore") return here.restore();
      return here.remove({ ...(request === "once" ? KEY : {}), ...(isExpected && { isExpected }) });
    }).map((request) =>
      request.then(({ isDuplicate }) => isDuplicate ? "duplicate" : "", ({ code }) => code)
    );
    release();
    const settled: string[] = await all(sent);
    await first;
    const logged = (await events()).slice(1);
    const types = logged.map(({ type }) => type as string);
    assertEquals(settled.map((outcome) => outcome || types.shift()), outcomes);
    assertEquals(types, []);
    const [last, before] = logged.toReversed() as PetEvent[];
    if (last.type !== "PetRemoved") continue;
    assertEquals(encodePet(last.data), before === undefined ? REX : encodePet(before.data));
    // Another instance knows nothing of it yet.
    const late = await all([there.remove(), there.update()].map(codeOf));
    assertEquals(late, ["pet_not_found", "pet_not_found"]);
    assertEquals((await audit(service)).faults, []);
  }
});

Deno.test("updatePet() and removePet() find a pet that the same commit adds", async () => {
  await using opened = await openWithRex();
  const { service, faulty, here: { add, update, remove }, events, all } = opened;
  let commits = 0;
  faulty.onCommit = (apply) => {
    commits++;
    return apply();
  };
  const [added, updated, removed] = await all([
    add(),
    update({ petId: 2 }),
    remove({ petId: 2 }),
  ]);
  assertEquals([added.id, updated.id, removed.text], [2, 2, updated.text]);
  const [creation, change, removal] = (await events()).map((it) => it as PetEvent);
  const types = [creation, change, removal].map(({ type }) => type);
  assertEquals(types, ["PetCreated", "PetUpdated", "PetRemoved"]);
  assertEquals(change.predecessor, creation.position);
  assertEquals(removal.predecessor, change.position);
  assertEquals(commits, 1);
  assertEquals((await audit(service)).faults, []);
});

Deno.test("Of many removals at once, one succeeds; a repeated one finds the first for a day, although another instance commits that while the pet is read", async () => {
  await using opened = await openWithRex();
  const { service, faulty, here, there, events, all } = opened;
  const codes = await all(
    [here, there, here, there].map(({ remove }) => remove().then(() => "", ({ code }) => code)),
  );
  assertEquals(codes.sort(), ["", ...Array(3).fill("pet_not_found")]);
  // The other instance does not know the pet yet, so it prepares the removal twice, the second time on a fresh head.
  await all([here.add()]);
  const again = { petId: 2, idempotencyKey: "removal" };
  const { onSnapshot } = faulty;
  faulty.onSnapshot = async (apply) => {
    faulty.onSnapshot = onSnapshot;
    assertEquals(await here.remove(again), adaAt(2, false));
    return await apply();
  };
  assertEquals(await all([there.remove(again)]), [adaAt(2, true)]);
  await service.runtime.settle(replay(service));
  assertEquals(await all([there.remove(again)]), [adaAt(2, true)]);
  await service.runtime.advance(IDEMPOTENCY_LIFETIME_MS);
  assertEquals(await all([codeOf(there.remove(again))]), ["pet_not_found"]);
  const types = (await events()).map(({ type }) => type);
  assertEquals(types, ["PetRemoved", "PetCreated", "PetRemoved"]);
});

Deno.test("Of many restores on two instances, one succeeds, which a repeated request finds for a day", async () => {
  await using opened = await openWithRex();
  const { service, here, there, events, all } = opened;
  await here.remove();
  const codes = await all(
    [here, there, here, there].map(({ restore }) => restore().then(() => "", ({ code }) => code)),
  );
  assertEquals(codes.sort(), ["", ...Array(3).fill("pet_not_removed")]);
  await all([there.update(), here.remove()]);
  const restored = { id: 1, text: SOLD, isDuplicate: false };
  assertEquals(await all([there.restore(KEY)]), [restored]);
  await here.remove();
  const repeated = { ...restored, isDuplicate: true };
  assertEquals(await all([here.restore(KEY), there.restore(KEY)]), [repeated, repeated]);
  await service.runtime.settle(replay(service));
  assertEquals(await all([there.restore(KEY)]), [repeated]);
  await service.runtime.advance(IDEMPOTENCY_LIFETIME_MS);
  assertEquals(await all([there.restore(KEY)]), [restored]);
  const types = (await events()).map(({ type }) => type);
  const twice = ["PetRemoved", "PetRestored"];
  assertEquals(types, [...twice, "PetUpdated", ...twice, ...twice]);
  assertEquals((await audit(service)).faults, []);
});

Deno.test("A command writes once for each Idempotency-Key and API key, on two instances, and repeats its outcome for a day", async () => {
  await using opened = await openWithRex();
  const { service, here, there, events, all } = opened;
  const { runtime, store } = service;
  for (const round of [1, 2, 3, 4]) {
    const key = { idempotencyKey: `order-${round}` };
    const added = await all([here, there, here, there].map(({ add }) => add(key)));
    assertEquals(new Set(added.map(({ text }) => text)), new Set([adaAt(round + 1, true).text]));
    assertEquals(added.filter(({ isDuplicate }) => !isDuplicate).length, 1);
  }
  const [first] = await events();
  const logged = hmacSha256Hex(service.token, "order-1");
  assertEquals(first.idempotencyKey, logged, "nobody can guess it without the API key");
  assertEquals(first.actor, service.keyId);

  await all([here, there, here].map(({ update }) => update(KEY)));
  await here.update({ patch: { status: "pending" } });
  // Also if the pet is no longer the expected one, because the change itself made it another.
  const repeated = await runtime.settle(there.update({ ...KEY, isExpected: () => false }));
  assertEquals(repeated, { id: 1, text: SOLD, isDuplicate: true });
  const { token } = await issueApiKey(service, { label: "another" });
  assertEquals(await runtime.settle(there.add({ ...KEY, token })), adaAt(6, false));

  // The age is that at the time of the event, although the clock is set before it is prepared.
  const changedAt = Date.parse((await events())[4].time);
  await runtime.advance(changedAt + IDEMPOTENCY_LIFETIME_MS - 1 - runtime.now());
  const { nextTurn } = runtime;
  runtime.nextTurn = () => {
    Object.assign(runtime, { nextTurn }).jumpClock(1);
    return nextTurn();
  };
  assertEquals((await here.update(KEY)).isDuplicate, true);
  assertEquals((await here.update(KEY)).isDuplicate, false);
  const prefix = projectionKey(1, ["event_by_idempotency_key"]);
  const records = await store.list({ prefix }, { limit: 100 });
  assertEquals(records.length, 7, "the record of the first use is still in the store");
});

Deno.test("A command refuses a repeated request whose API key another instance has revoked", async () => {
  await using opened = await openWithRex();
  const { service, here: { add } } = opened;
  await add(KEY);
  const { store, runtime } = service;
  await revokeApiKey(createService({ store, runtime, report: () => {} }), service.keyId);
  // This instance has not read the new head, and a repeated request commits nothing that would conflict.
  assertEquals(await codeOf(runtime.settle(add(KEY))), "invalid_credentials");
});

Deno.test("A command waits for the outcome of an earlier one with its Idempotency-Key, and says if that is unknown", async () => {
  await using opened = await openWithRex();
  const { service: { runtime }, faulty, here: { add }, events, all } = opened;
  const { fault, reached, release } = hold();
  faulty.nextCommits.push(fault);
  const first = add(KEY);
  await reached;
  let isSettled = false;
  const second = add(KEY).finally(() => isSettled = true);
  const third = codeOf(add({ ...KEY, pet: { name: "Max", categoryId: 2n } }));
  await runtime.advance(20);
  assertEquals(isSettled, false);
  release();
  assertEquals(await all([first, second]), [adaAt(2, false), adaAt(2, true)]);
  assertEquals(await runtime.settle(third), "idempotency_key_reused");
  assertEquals((await events()).length, 1);

  faulty.onCommit = COMMIT_FAULTS.fails;
  const next = { idempotencyKey: "next" };
  const unclear = [codeOf(add(next)), codeOf(add(next))];
  assertEquals(await all(unclear), ["outcome_unknown", "outcome_unknown"]);
});

Deno.test("A command repeats no event on an instance that has not seen a replay", async () => {
  await using opened = await openWithRex();
  const { service, here, there } = opened;
  const { runtime, heads } = service;
  await runtime.settle(replay(service));
  assertEquals(await runtime.settle(there.add(KEY)), adaAt(2, false));
  // For this instance, the old generation is still served, and it finds nothing there.
  assertEquals(heads.latest?.head.generation, 1);
  assertEquals(await runtime.settle(here.add(KEY)), adaAt(2, true));
});
