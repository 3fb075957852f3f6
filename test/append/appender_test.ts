import { assert, assertEquals, assertGreater, assertLessOrEqual } from "@std/assert";
import { decodeEvent, type RecordedEvent } from "../../events/event.ts";
import { PET_STATUSES } from "../../events/pet.ts";
import { audit } from "../../scripts/audit/audit.ts";
import { issueKey } from "../../src/commands/issue_key.ts";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { APPEND_LIMIT_MS, QUEUE_LIMIT } from "../../src/append/appender.ts";
import type { Command } from "../../src/append/command.ts";
import { encodeHead, type Head, readHead } from "../../src/log/head.ts";
import { linesOf } from "../../src/log/read_log.ts";
import { HEAD_KEY } from "../../src/keyspace.ts";
import { type Commit, type Mutation, type Store } from "../../src/store/store.ts";
import { StoreAwayError } from "../../src/store/store_errors.ts";
import { decodeJson } from "../../src/encoding/json.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import {
  COMMIT_FAULTS,
  type CommitFault,
  type FaultyStore,
  faultyStore,
  hold,
} from "../support/faulty_store.ts";
import { RecordingInstrumentation } from "../support/recording_instrumentation.ts";
import { readLogLines } from "../support/sound_log.ts";
import { assertError } from "../support/test_each_way.ts";
import { openTestService, otherInstance, type TestService } from "../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1 };

/** A service on a faulty store, after its key was issued. */
async function open(options?: Parameters<typeof openTestService>[1]) {
  let store!: FaultyStore;
  let inner!: Store;
  const service = await openTestService((it) => store = faultyStore(inner = it), options);
  store.commits.length = 0;
  /** Another instance of the service, whose store has no faults. */
  const openOther = () => otherInstance({ ...service, store: inner });
  return { service, store, openOther, [Symbol.asyncDispose]: () => service[Symbol.asyncDispose]() };
}

/** The same, while the commit of a first addition is held. */
async function openHeld() {
  const opened = await open();
  return { ...opened, ...await holdFirst(opened) };
}

async function holdFirst({ service, store }: { service: TestService; store: FaultyStore }) {
  const { fault, reached, release } = hold();
  store.nextCommits.push(fault);
  const first = service.add(REX);
  await reached;
  return { first, release };
}

/** Uses a key, so that the service caches it, and resolves to its header. */
async function usedKey(service: TestService, token: string) {
  const headers = { authorization: `Bearer ${token}` };
  await (await service.sendBare("/v1/pets", { headers })).body?.cancel();
  return headers;
}

Deno.test("append() puts all commands that wait during a commit into the next commit", async () => {
  await using opened = await openHeld();
  const { service, store, first, release } = opened;
  const others = Array.from({ length: 100 }, () => service.add(REX));
  await service.runtime.advance(0);
  assertEquals(store.commits.length, 1);
  release();
  const ids = await idsOf(await Promise.all([first, ...others]));
  assertEquals(ids, firstIds(101));
  assertEquals(store.commits.length, 2);
  await assertSound(service, 101);
});

Deno.test("append() checks the head's versionstamp and nothing else", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { versionstamp } = await readHead(service.store);
  await service.add(REX);
  assertEquals(store.commits[0].checks, [{ key: ["head"], versionstamp }]);
});

const UNCLEAR: Record<string, CommitFault[]> = {
  "a commit that landed reports a conflict": [COMMIT_FAULTS.landsAndConflicts],
  "a commit that landed reports failure": [COMMIT_FAULTS.landsAndFails],
  "the store is locked at eight commits": Array(8).fill(COMMIT_FAULTS.isLocked),
  "a commit hangs and does not land": [COMMIT_FAULTS.hangs],
  "a commit fails, and its repetition lands and reports a conflict": [
    COMMIT_FAULTS.fails,
    COMMIT_FAULTS.landsAndConflicts,
  ],
  "a commit hangs and lands before its repetition": late("before"),
  "a commit hangs and arrives after its repetition": late("after"),
};

/** A commit without an answer that reaches the store before or after its repetition. */
function late(time: "before" | "after"): CommitFault[] {
  let land!: () => Promise<string | null>;
  return [
    (apply) => {
      land = apply;
      return new Promise(() => {});
    },
    async (apply) => {
      if (time === "before") await land();
      const versionstamp = await apply();
      if (time === "after") assertEquals(await land(), null);
      return versionstamp;
    },
  ];
}

for (const [situation, faults] of Object.entries(UNCLEAR)) {
  Deno.test(`append() returns the first outcome when ${situation}`, async () => {
    await using opened = await open();
    const { service, store } = opened;
    store.nextCommits.push(...faults);
    const added = [service.add(REX), service.add({ name: "Max", categoryId: 2 })];
    const responses = await service.runtime.settle(Promise.all(added));
    assertEquals(responses.map(({ status }) => status), [201, 201]);
    assertEquals(await idsOf(responses), [1, 2]);
    assertEquals((await service.add(REX)).status, 201);
    await assertSound(service, 3);
  });
}

Deno.test("append() gives an event the same id in every attempt", async () => {
  await using opened = await open();
  const { service, store } = opened;
  store.nextCommits.push(COMMIT_FAULTS.fails, COMMIT_FAULTS.isLocked, COMMIT_FAULTS.fails);
  await service.runtime.settle(service.add(REX));
  const [, created] = await readEvents(service.store);
  const tried = store.commits.map(({ mutations: [{ key, ...first }] }) => {
    const [{ line }] = linesOf(key[1] as number, (first as Set).value)!;
    return decodeEvent(new TextDecoder().decode(line));
  });
  assertEquals(tried, [created, created, created, created]);
});

Deno.test("append() finds its own commit if another instance has committed after it", async () => {
  await using opened = await open();
  const { service, store, openOther } = opened;
  const other = openOther();
  let later: Response | undefined;
  store.nextCommits.push(async (apply) => {
    await apply();
    later = await other.add(REX);
    return null;
  });
  assertEquals((await (await service.runtime.settle(service.add(REX))).json()).id, 1);
  assertEquals((await later!.json()).id, 2);
  assertEquals((await (await service.add(REX)).json()).id, 3);
  await assertSound(service, 3);
});

Deno.test("append() adds every pet once if two instances race", async () => {
  await using opened = await open();
  const { service, openOther } = opened;
  const other = openOther();
  const added = Array.from(
    { length: 60 },
    (_, index) => index % 2 === 0 ? service.add(REX) : other.add(REX),
  );
  const ids = await idsOf(await service.runtime.settle(Promise.all(added)));
  assertEquals(ids, firstIds(60));
  await assertSound(service, 60);
});

/** How the store treats a commit, how its command is rejected, and after how many milliseconds. */
const REJECTIONS: Record<string, [CommitFault[], CommitFault, code: string, afterMs: number]> = {
  "outcome_unknown at its limit if the commit may have landed": [
    [],
    COMMIT_FAULTS.fails,
    "outcome_unknown",
    APPEND_LIMIT_MS,
  ],
  "store_unavailable at its limit if the store stayed locked": [
    [],
    COMMIT_FAULTS.isLocked,
    "store_unavailable",
    APPEND_LIMIT_MS,
  ],
  "store_unavailable at once if the store refuses the commit": [
    [],
    COMMIT_FAULTS.isRefused,
    "store_unavailable",
    0,
  ],
  "outcome_unknown if the disk became full after a commit that may have landed": [
    [COMMIT_FAULTS.fails],
    COMMIT_FAULTS.isFull,
    "outcome_unknown",
    APPEND_LIMIT_MS,
  ],
};

for (const [how, [nextCommits, onCommit, code, afterMs]] of Object.entries(REJECTIONS)) {
  Deno.test(`append() rejects with ${how}`, async () => {
    await using opened = await open();
    const { service, store } = opened;
    Object.assign(store, { nextCommits, onCommit });
    const before = service.runtime.monotonicNow();
    let tookMs = 0;
    const added = service.add(REX).finally(() => tookMs = service.runtime.monotonicNow() - before);
    const response = await service.runtime.settle(added);
    assertEquals(response.headers.get("retry-after"), "1");
    await assertError(response, { status: 503, code });
    assert(tookMs >= afterMs && tookMs < afterMs + 200, `${tookMs} ms`);
    store.onCommit = COMMIT_FAULTS.lands;
    const next = await service.runtime.settle(service.add(REX));
    await assertSound(service, (await next.json()).id);
  });
}

Deno.test("append() reports commits that are not applied for half a second, then once in ten seconds until one lands", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const addFor = async (seconds: number) => {
    const end = service.runtime.monotonicNow() + 1_000 * seconds;
    while (service.runtime.monotonicNow() < end) await service.runtime.settle(service.add(REX));
  };
  store.onCommit = COMMIT_FAULTS.isLocked;
  await addFor(21);
  const reason = "The store cannot commit at the moment: The store is locked";
  const takeReports = () =>
    service.reports.splice(0).filter(([, event]) => event === "commits_not_applied");
  const [first, second, third, ...more] = takeReports();
  assertEquals(first.slice(0, 2), ["warn", "commits_not_applied"]);
  assertEquals(first[2]!.reason, reason);
  assertGreater(second[2]!.count as number, first[2]!.count as number);
  assertGreater(third[2]!.count as number, second[2]!.count as number);
  assertEquals(more, []);
  store.onCommit = COMMIT_FAULTS.lands;
  await addFor(10);
  store.nextCommits = [COMMIT_FAULTS.isLocked];
  await addFor(1);
  assertEquals(takeReports(), []);
});

Deno.test("append() rejects with storage_full at once while the disk is full, and the service recovers by itself", async () => {
  await using opened = await open({ isDurable: true });
  const { service, store } = opened;
  const { runtime } = service;
  const readiness = async () => {
    const response = await service.sendBare("/readyz");
    return [response.status, (await response.json()).message];
  };
  assertEquals(await readiness(), [200, undefined]);
  store.onCommit = COMMIT_FAULTS.isFull;
  for (let second = 0; second < 25; second++) {
    const startedAt = runtime.monotonicNow();
    const response = await runtime.settle(service.add(REX));
    const message = "The disk of the store is full, so nothing was stored";
    await assertError(response, {
      status: 503,
      code: "storage_full",
      message: new RegExp(`^${message}$`),
    });
    assertEquals(response.headers.get("retry-after"), "1");
    assertLessOrEqual(runtime.monotonicNow() - startedAt, 500);
    assertEquals((await service.send("/v1/pets")).status, 200);
    assertEquals(await readiness(), [503, `Additions and changes fail: ${message}`]);
    await runtime.advance(startedAt + 1_000 - runtime.monotonicNow());
  }
  const full = ["error", "storage_full"];
  const logged = () => service.reports.map(([level, event]) => [level, event]);
  assertEquals(logged(), [full, full, full]);

  store.onCommit = COMMIT_FAULTS.lands;
  await runtime.advance(1_000);
  assertEquals(await readiness(), [200, undefined]);
  assertEquals((await service.add(REX)).status, 201);
  await runtime.advance(10_000);
  assertEquals(logged(), [full, full, full, ["info", "storage_available"]]);
  const commits = store.commits.length;
  await runtime.advance(10_000);
  assertEquals(store.commits.length, commits);
  await assertSound(service, 1);
});

Deno.test("append() rejects a command that was in no commit with store_unavailable", async () => {
  await using opened = await open();
  const { service, store } = opened;
  store.onCommit = COMMIT_FAULTS.fails;
  const first = service.add(REX);
  await service.runtime.advance(0);
  const second = service.add({ name: "Max", categoryId: 2 });
  const responses = await service.runtime.settle(Promise.all([first, second]));
  const codes = await Promise.all(responses.map(async (it) => (await it.json()).code));
  assertEquals(codes, ["outcome_unknown", "store_unavailable"]);
  store.onCommit = COMMIT_FAULTS.lands;
  await service.runtime.advance(APPEND_LIMIT_MS);
  const names = (await readEvents(service.store)).map(({ data }) => "name" in data && data.name);
  assert(!names.includes("Max"), "a pet that was reported as not stored is not stored later");
});

Deno.test("append() rejects a repeated request with outcome_unknown if a commit with the first one may have landed", async () => {
  for (const laterMs of [0, 1_000]) {
    await using opened = await open();
    const { service, store } = opened;
    store.onCommit = COMMIT_FAULTS.hangs;
    const add = () => service.add(REX, { "idempotency-key": "one" });
    const first = add();
    await service.runtime.advance(laterMs);
    store.onList = () => Promise.reject(new StoreAwayError("gone"));
    const responses = await service.runtime.settle(Promise.all([first, add()]));
    const codes = await Promise.all(responses.map(async (it) => (await it.json()).code));
    assertEquals(codes, ["outcome_unknown", "outcome_unknown"], `${laterMs} ms later`);
  }
});

Deno.test("append() touches the head after six conflicts in a row, and writes nothing else then", async () => {
  await using opened = await open();
  const { service, store, openOther } = opened;
  const other = openOther();
  const isBeaten: CommitFault = async (apply) => {
    await other.add(REX);
    return await apply();
  };
  const { isLocked } = COMMIT_FAULTS;
  store.nextCommits.push(...Array(6).fill(isBeaten), isLocked, isLocked);
  let touched: Head | undefined;
  store.nextCommits.push(async (apply) => {
    touched = (await readHead(service.store)).head;
    return await apply();
  });
  const response = await service.runtime.settle(service.add({ name: "Max", categoryId: 2 }));
  assertEquals((await response.json()).id, 7);
  assertEquals(store.commits.length, 10);
  assertEquals(service.reports, []);
  const value = encodeHead(touched!);
  assertEquals(store.commits[8].mutations, [{ type: "set", key: HEAD_KEY, value }]);
  await assertSound(service, 7);
});

Deno.test("append() rejects a command at once if its queue is full, and keeps the accepted ones", async () => {
  await using opened = await openHeld();
  const { service, first, release } = opened;
  const taken = Array.from({ length: QUEUE_LIMIT }, () => service.appender.append(NOTHING));
  const response = await service.add(REX);
  assertEquals(response.headers.get("retry-after"), "1");
  await assertError(response, { status: 503, code: "overloaded" });
  release();
  assertEquals((await first).status, 201);
  assertEquals((await Promise.all(taken)).length, QUEUE_LIMIT);
  assertEquals((await service.add(REX)).status, 201);
});

Deno.test("drain() settles the accepted commands, and later commands are rejected", async () => {
  await using opened = await openHeld();
  const { service, first, release } = opened;
  const waiting = service.appender.append(addition(service));
  let isDrained = false;
  const drained = service.appender.drain().then(() => isDrained = true);
  await assertError(await service.add(REX), { status: 503, code: "shutting_down" });
  assertEquals(isDrained, false);
  release();
  await drained;
  assertEquals([(await first).status, (await waiting).length], [201, 1]);
  await assertSound(service, 2);
});

Deno.test("append() puts a full queue of ordinary pets into few commits, of more than 900 events each", async () => {
  await using opened = await openHeld();
  const { service, store, first, release } = opened;
  const statuses = [...PET_STATUSES, undefined];
  const commands = Array.from({ length: QUEUE_LIMIT }, (_, index) => {
    const pet = { name: `Rex the ${index}th`, categoryId: 4_711n, status: statuses[index % 4] };
    return addPetCommand(service.runtime, service.keyId, pet);
  });
  const added = Promise.all(commands.map((it) => service.appender.append(it)));
  release();
  assertEquals((await first).status, 201);
  await service.runtime.settle(added);
  // The first commit is that of the held addition.
  const positions = [2, ...store.commits.slice(1).map(positionAfter)];
  const events = positions.slice(1).map((position, index) => position - positions[index]);
  assertEquals(events.reduce((sum, it) => sum + it), QUEUE_LIMIT);
  for (const count of events.slice(0, -1)) assertGreater(count, 900);
  await assertSound(service, QUEUE_LIMIT + 1);
});

/** The ways in which a key ends while a command that was sent with it waits for the commit before it. */
const ENDS: Record<
  string,
  (other: ReturnType<typeof otherInstance>, service: TestService, keyId: string) => Promise<unknown>
> = {
  "another instance revokes it": (other, _, keyId) => revokeKey(other, keyId),
  "it expires": (_, { runtime }) => runtime.advance(1_500),
  "its revocation is earlier in the queue": (_, service, keyId) => {
    revokeKey(service, keyId);
    return Promise.resolve();
  },
};

for (const [situation, end] of Object.entries(ENDS)) {
  Deno.test(`append() adds no pet for a waiting command's key if ${situation}`, async () => {
    await using opened = await open();
    const { service, openOther } = opened;
    const expiresAt = service.runtime.now() + 1_000;
    const { id, token } = await issueKey(service, { label: "short", expiresAt });
    const headers = await usedKey(service, token);
    const { first, release } = await holdFirst(opened);
    const ended = end(openOther(), service, id);
    const second = service.add({ name: "Max", categoryId: 2 }, headers);
    await ended;
    release();
    const responses = await service.runtime.settle(Promise.all([first, second]));
    assertEquals(responses.map(({ status }) => status), [201, 401]);
    assertEquals((await responses[1].json()).code, "invalid_credentials");
    await assertSound(service, 1);
  });
}

Deno.test("append() rejects a command that throws, and commits the others", async () => {
  await using opened = await openHeld();
  const { service, store, first, release } = opened;
  const error = new Error("no");
  const fail = () => {
    throw error;
  };
  const refusals = [{ ...NOTHING, prepare: fail }, { ...NOTHING, decide: fail }]
    .map((it) => service.appender.append(it).catch((reason) => reason));
  const second = service.add(REX);
  release();
  assertEquals(await Promise.all(refusals), [error, error]);
  assertEquals(await idsOf([await first, await second]), [1, 2]);
  assertEquals(store.commits.length, 2);
});

Deno.test("append() reports shared, conflicting and unclear commits in the contexts of their callers", async () => {
  const instrumentation = new RecordingInstrumentation();
  await using opened = await open({ instrumentation });
  const { service, store, openOther } = opened;
  const reportsOf = async (count: number) => {
    instrumentation.take();
    const commands = Array.from({ length: count }, () => addition(service));
    const added = Promise.all(commands.map((it) => service.appender.append(it)));
    await service.runtime.settle(added);
    return instrumentation.take().filter((report) => !report.startsWith("store "));
  };
  assertEquals(await reportsOf(2), [
    ...["append", "restore undefined", "append", "restore 2", "restore 3"],
    ...["commit of 2 for 2, 3", "committed PetCreated, PetCreated"],
  ]);
  await openOther().add(REX);
  const once = "commit of 1 for 4";
  const conflict = ["commit.conflicts", "restore 4", once, "committed PetCreated"];
  assertEquals((await reportsOf(1)).slice(-5), [once, ...conflict]);
  store.nextCommits.push(COMMIT_FAULTS.landsAndFails);
  const unclear = ["commit of 1 for 5", "commit.unclear", "committed PetCreated"];
  assertEquals((await reportsOf(1)).slice(-3), unclear);
});

const NOTHING: Command = { prepare: () => {}, decide: () => [] };

function addition({ runtime, keyId }: TestService): Command {
  return addPetCommand(runtime, keyId, { name: "Rex", categoryId: 1n, status: "sold" });
}

/** The ids in the responses, sorted. */
async function idsOf(responses: Response[]): Promise<number[]> {
  const ids = await Promise.all(responses.map(async (it) => (await it.json()).id as number));
  return ids.sort((one, other) => one - other);
}

function firstIds(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}

async function readEvents(store: Store): Promise<RecordedEvent[]> {
  return (await readLogLines(store)).map(decodeEvent);
}

/** The position in the head that a commit writes. */
function positionAfter({ mutations }: Commit): number {
  return decodeJson((mutations.at(-1) as Set).value).position;
}

type Set = Mutation & { type: "set" };

/** Asserts that the store is sound and holds exactly that many pets. */
async function assertSound(service: TestService, pets: number): Promise<void> {
  const { sound, faults, pets: found } = await audit(service);
  assertEquals({ sound, faults, pets: found }, { sound: true, faults: [], pets });
}
