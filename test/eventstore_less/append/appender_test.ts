import { audit } from "../../support/tools.ts";
import type { EventBody } from "../../../events/all_events.ts";
import type { Head } from "../../../src/eventstore_less/definitions.ts";
import {
  assert,
  assertEquals,
  assertGreater,
  assertLessOrEqual,
  assertMatch,
  assertRejects,
} from "@std/assert";
import { APPLICATION } from "../../../src/application.ts";
import { PET_STATUSES } from "../../../events/pet.ts";
import { issueApiKey } from "../../../src/keys/write_api_key.ts";
import { APPEND_LIMIT_MS } from "../../../src/eventstore_less/append/appender.ts";
import { QUEUE_LIMIT } from "../../../src/eventstore_less/append/command_queue.ts";
import type { Command } from "../../../src/eventstore_less/append/command.ts";
import {
  NotAppliedError,
  StoreAwayError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../../../src/eventstore_less/store/store_errors.ts";
import { sha256Hex } from "../../../src/eventstore_less/encoding/sha256.ts";
import { EventStore } from "../../../src/eventstore_less/event_store.ts";
import { sleep } from "../../../src/eventstore_less/runtime/runtime.ts";
import { ServiceError, serviceErrorCode } from "../../../src/eventstore_less/service_error.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { failing, failingInstrumentation } from "../../support/failing.ts";
import { COMMIT_FAULTS, type CommitFault, hold } from "../../support/faulty_store.ts";
import { NO_INSTRUMENTATION } from "../../../src/runtime/instrumentation.ts";
import { assertError } from "../../support/assert_error.ts";
import { openTestService, otherInstance, type TestService } from "../../support/test_service.ts";

const REX = { name: "Rex", categoryId: 1 };

/** A service on a faulty store, after its key was issued. */
async function open(options?: Parameters<typeof openTestService>[0]) {
  const service = await openTestService(options);
  const { faults: store } = service;
  store.commits.length = 0;
  /** Another instance of the service, whose store has no faults. */
  const openOther = () => otherInstance({ ...service, store: store.inner });
  /** Adds a pet. Resolves when its commit has begun; `release()` lets that commit continue. */
  const holdFirst = async () => {
    const { fault, reached, release } = hold();
    store.nextCommits.push(fault);
    const first = service.add(REX);
    await reached;
    return { first, release };
  };
  const { [Symbol.asyncDispose]: dispose } = service;
  return { service, store, openOther, holdFirst, [Symbol.asyncDispose]: dispose };
}

const { landsAndConflicts, landsAndFails, fails, isLocked, hangs, isFull, isRefused } =
  COMMIT_FAULTS;

const UNCLEAR: Record<string, CommitFault[]> = {
  "a commit that landed reports failure": [landsAndFails],
  "a commit fails, and its repetition lands and reports a conflict": [fails, landsAndConflicts],
  "the store is locked at eight commits": Array(8).fill(isLocked),
  "a commit hangs and arrives after its repetition": arrivesLate(),
};

function arrivesLate(): CommitFault[] {
  let land!: () => Promise<string | null>;
  const hangs: CommitFault = (apply) => {
    land = apply;
    return new Promise(() => {});
  };
  return [hangs, async (apply) => {
    const versionstamp = await apply();
    assertEquals(await land(), null);
    return versionstamp;
  }];
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
    assertEquals((await service.runtime.settle(service.add(REX))).status, 201);
    await assertSound(service, 3);
  });
}

/** How the store treats a commit, how its command is rejected, and after how many milliseconds. */
const REJECTIONS: Record<string, [CommitFault[], CommitFault, code: string, afterMs: number]> = {
  "its limit if the commit may have landed": [[], fails, "outcome_unknown", APPEND_LIMIT_MS],
  "its limit if the store stayed locked": [[], isLocked, "store_unavailable", APPEND_LIMIT_MS],
  "once if the store refuses the commit": [[], isRefused, "store_unavailable", 0],
  "its limit if full after a lost answer": [[fails], isFull, "outcome_unknown", APPEND_LIMIT_MS],
};

for (const [how, [nextCommits, onCommit, code, afterMs]] of Object.entries(REJECTIONS)) {
  Deno.test(`append() rejects at ${how}`, async () => {
    await using opened = await open();
    const { service, store } = opened;
    Object.assign(store, { nextCommits, onCommit });
    const before = service.runtime.monotonicNow();
    let tookMs = 0;
    const added = service.add(REX).finally(() => tookMs = service.runtime.monotonicNow() - before);
    const response = await service.runtime.settle(added);
    await assertError(response, { status: 503, code });
    assert(tookMs >= afterMs && tookMs < afterMs + 200, `${tookMs} ms`);
    store.onCommit = COMMIT_FAULTS.lands;
    const next = await service.runtime.settle(service.add(REX));
    await assertSound(service, (await next.json()).id);
  });
}

Deno.test("append() rejects a command at its limit after any pause since the last rejection", async () => {
  for (let pauseMs = 0; pauseMs <= 600; pauseMs += 50) {
    await using opened = await open();
    const { service, store } = opened;
    const { runtime } = service;
    store.onCommit = isLocked;
    await runtime.settle(service.add(REX));
    await runtime.advance(pauseMs);
    let status = NaN;
    void service.add(REX).then((response) => status = response.status);
    await runtime.advance(APPEND_LIMIT_MS + 200);
    // The test ends even if the command was not rejected.
    store.onCommit = COMMIT_FAULTS.lands;
    assertEquals(status, 503, `after a pause of ${pauseMs} ms`);
  }
});

Deno.test("append() reports commits that are not applied for half a second, again later, and not one that a repetition follows at once", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const addFor = async (seconds: number) => {
    const end = service.runtime.monotonicNow() + 1_000 * seconds;
    while (service.runtime.monotonicNow() < end) await service.runtime.settle(service.add(REX));
  };
  store.onCommit = isLocked;
  await addFor(21);
  const reason = "The store cannot commit at the moment: The store is locked";
  const takeReports = () =>
    service.reports.splice(0).filter(([, event]) => event === "commits_not_applied");
  const [first, second] = takeReports();
  assertEquals(first.slice(0, 2), ["warn", "commits_not_applied"]);
  assertEquals(first[2]!.reason, reason);
  assertGreater(second[2]!.count as number, first[2]!.count as number);
  store.onCommit = COMMIT_FAULTS.lands;
  await addFor(10);
  store.nextCommits = [isLocked];
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
  store.onCommit = isFull;
  for (let second = 0; second < 25; second++) {
    const startedAt = runtime.monotonicNow();
    const response = await runtime.settle(service.add(REX));
    const message = "The disk of the store is full, so nothing was stored";
    await assertError(response, { status: 503, code: "storage_full", message: RegExp(message) });
    assertLessOrEqual(runtime.monotonicNow() - startedAt, 500);
    assertEquals((await service.send("/v1/pets")).status, 200);
    assertEquals(await readiness(), [503, `Writes fail: ${message}`]);
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

Deno.test("append() rejects at once while the disk fails, after one unknown outcome, with one line, and recovers by itself", async () => {
  await using opened = await open({ isDurable: true });
  const { service, store } = opened;
  const { runtime } = service;
  const readiness = async () => (await service.sendBare("/readyz")).status;
  store.onCommit = COMMIT_FAULTS.isFailing;
  const first = await runtime.settle(service.add(REX));
  await assertError(first, { status: 503, code: "outcome_unknown", message: /./ });
  for (let number = 0; number < 50; number++) {
    const startedAt = runtime.monotonicNow();
    const response = await runtime.settle(service.add(REX));
    const message = /^The disk of the store fails, so nothing was stored$/;
    await assertError(response, { status: 503, code: "store_unavailable", message });
    assertLessOrEqual(runtime.monotonicNow() - startedAt, 500);
    assertEquals((await service.send("/v1/pets")).status, 200);
    assertEquals(await readiness(), 503);
  }
  const [line, ...others] = service.reports.filter(([level]) => level === "error");
  assertEquals([line[1], others.length], ["storage_failing", 0]);
  assertMatch(String(line[2]?.remedy), /^Read the system's log, .*read-only; the service then/);

  store.onCommit = COMMIT_FAULTS.lands;
  await runtime.advance(1_000);
  assertEquals(await readiness(), 200);
  assertEquals((await service.add(REX)).status, 201);
  await runtime.advance(10_000);
  assertEquals(service.reports.at(-1)?.[1], "storage_available");
  await assertSound(service, 1);
});

Deno.test("append() puts a full queue of ordinary pets into five commits, one after the other, and rejects what does not fit", async () => {
  await using opened = await open();
  const { service, store, holdFirst } = opened;
  const { first, release } = await holdFirst();
  const statuses = [...PET_STATUSES, undefined];
  const commands = Array.from({ length: QUEUE_LIMIT }, (_, index) => {
    const pet = { name: `Rex the ${index}th`, categoryId: 4_711n, status: statuses[index % 4] };
    return { ...addPetCommand(service.runtime, service.keyId, pet), owner: service.token };
  });
  const added = Promise.all(commands.map((it) => service.appender.append(it)));
  await assertError(await service.add(REX), { status: 503, code: "overloaded" });
  assertEquals(store.commits.length, 1, "at most one commit is in flight");
  release();
  assertEquals((await first).status, 201);
  await service.runtime.settle(added);
  assertEquals(store.commits.length, 1 + 5);
  await assertSound(service, QUEUE_LIMIT + 1);
});

Deno.test("append() rejects a command that throws, and commits the others", async () => {
  await using opened = await open();
  const { service, store, holdFirst } = opened;
  const { first, release } = await holdFirst();
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

Deno.test("append() acknowledges every commit although onCommitted() throws, and reports the first error", async () => {
  await using opened = await open();
  const { service, holdFirst } = opened;
  const { deps } = service.appender;
  deps.onCommitted = failing(deps.onCommitted!, () => "before");
  const { first, release } = await holdFirst();
  const second = service.add(REX);
  release();
  assertEquals([(await first).status, (await second).status], [201, 201]);
  const [[level, event, details], ...more] = service.reports;
  assertEquals([level, event, details?.reason], ["error", "on_committed_failed", "a defect"]);
  assertEquals(more, []);
  await assertSound(service, 2);
});

Deno.test("append() tries a command without events again after a failed read of the head", async () => {
  // The first read is that of the head to plan on, and the second one confirms the plan.
  for (const failing of [1, 2]) {
    await using opened = await open();
    const { service } = opened;
    const { appender, heads } = opened.openOther();
    const read = heads.read.bind(heads);
    let reads = 0;
    heads.read = () => {
      reads++;
      return reads === failing ? Promise.reject(new StoreAwayError("gone")) : read();
    };
    const appended = service.runtime.settle(appender.append(NOTHING));
    assertEquals([await appended, reads], [{ events: [], prepared: undefined }, 3]);
  }
});

/** The error of prepare(), how often it occurs, and the outcome of the command. */
const FAILED_PREPARATIONS: [reason: Error, failures: number, outcome: string | undefined][] = [
  [new StoreAwayError("gone"), 5, "stored"],
  [new UnclearOutcomeError("connection reset"), 5, "stored"],
  [new NotAppliedError("The store is locked"), Infinity, "store_unavailable"],
  [new StoreRefusedError("no rights"), 1, "store_unavailable"],
  [new ServiceError("projection_damaged", "damaged"), 1, "projection_damaged"],
  [new Error("a defect"), 1, undefined],
];

for (const [reason, failures, outcome] of FAILED_PREPARATIONS) {
  Deno.test(`append() of a command whose prepare() fails ${failures} times with ${reason.name}: ${outcome}`, async () => {
    await using opened = await open();
    const { service } = opened;
    const { appender, runtime } = service;
    let attempts = 0;
    const prepare = () => {
      attempts++;
      if (attempts <= failures) throw reason;
    };
    const command = { ...addition(service), prepare };
    const before = runtime.monotonicNow();
    const ended = appender.append(command).then(() => "stored", serviceErrorCode);
    assertEquals(await runtime.settle(ended), outcome);
    const tookMs = runtime.monotonicNow() - before;
    if (failures === Infinity) assert(tookMs >= APPEND_LIMIT_MS && attempts < 50, `${attempts}`);
    else assertEquals(attempts, outcome === "stored" ? failures + 1 : failures);
    assertEquals((await runtime.settle(service.add(REX))).status, 201);
  });
}

Deno.test("append() rejects the commands of a commit whose records cannot be made, and settles the others", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { head } = await service.heads.read();
  const { position } = head;
  const { decide, ...command } = addition(service);
  const leavesGap = (draft: Head) => {
    head.position = position + 1;
    return decide(draft, undefined);
  };
  const gapped = [addition(service), { ...command, decide: leavesGap }, addition(service)]
    .map((it) => assertRejects(() => service.appender.append(it), Error, "does not follow"));
  const other = service.appender.append(NOTHING);
  await Promise.all(gapped);
  head.position = position;
  assertEquals(await other, { events: [], prepared: undefined });
  assertEquals(store.commits.length, 0);
  assertEquals((await service.add(REX)).status, 201);
  await assertSound(service, 1);
});

for (const time of ["before", "after"] as const) {
  Deno.test(`append() acknowledges, conflicts and rejects as ever while each call of the telemetry throws ${time} it ran`, async () => {
    await using opened = await open({ instrumentation: failingInstrumentation(() => time) });
    const { service, store, openOther } = opened;
    const before = service.runtime.monotonicNow();
    assertEquals(await idsOf([await service.add(REX), await service.add(REX)]), [1, 2]);
    await openOther().add(REX);
    assertEquals(await idsOf([await service.runtime.settle(service.add(REX))]), [4]);
    store.nextCommits.push(landsAndFails, isRefused);
    assertEquals((await service.runtime.settle(service.add(REX))).status, 201);
    await assertError(await service.add(REX), { status: 503, code: "store_unavailable" });
    assertLessOrEqual(service.runtime.monotonicNow() - before, 1_000);
    const failed = service.reports.filter(([, event]) => event === "telemetry_failed");
    assertEquals(failed.map(([level]) => level), ["error"]);
    assertEquals(failed[0][2]?.reason, "a defect");
    await assertSound(service, 5);
  });
}

Deno.test("append() rejects commands in every state at their deadlines, although the clock jumps", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { appender, runtime } = service;
  const before = runtime.monotonicNow();
  const states: string[] = [];
  const track = (state: string, command: Command<unknown, EventBody>) =>
    appender.append(command).then(() => "stored", ({ code }) => code)
      .then((code) => states.push(`${state} ${code} ${runtime.monotonicNow() - before}`));
  store.onCommit = hangs;
  const tracked = [track("in flight", { ...addition(service), idempotencyKey: "one" })];
  await runtime.advance(0);
  tracked.push(
    track("waiting", addition(service)),
    track("shares the key", { ...NOTHING, idempotencyKey: "one" }),
  );
  runtime.jumpClock(24 * 60 * 60_000);
  await runtime.settle(Promise.all(tracked));
  store.onCommit = COMMIT_FAULTS.lands;
  await runtime.advance(APPEND_LIMIT_MS);
  const { promise, resolve } = Promise.withResolvers<void>();
  tracked.push(track("being prepared", { ...NOTHING, prepare: () => promise }));
  await runtime.advance(0);
  tracked.push(track("behind it", NOTHING));
  await runtime.settle(Promise.all(tracked));
  resolve();
  const second = 2 * APPEND_LIMIT_MS;
  assertEquals(states, [
    `in flight outcome_unknown ${APPEND_LIMIT_MS}`,
    `waiting store_unavailable ${APPEND_LIMIT_MS}`,
    `shares the key outcome_unknown ${APPEND_LIMIT_MS}`,
    `behind it stored ${second + 50}`,
    `being prepared store_unavailable ${second + APPEND_LIMIT_MS}`,
  ]);
  assertEquals((await runtime.settle(service.add(REX))).status, 201);
});

for (const [how, fault] of [["is locked", isLocked], ["is full", isFull]] as const) {
  Deno.test(`append() rejects a retry of an unclear request with outcome_unknown if the store ${how}`, async () => {
    await using opened = await open();
    const { service, store } = opened;
    const { appender, runtime } = service;
    const codeOf = (command: Command<unknown, EventBody>) =>
      runtime.settle(appender.append(command).then(() => "stored", serviceErrorCode));
    const request = { ...addition(service), idempotencyKey: "one" };
    store.onCommit = hangs;
    assertEquals(await codeOf(request), "outcome_unknown");
    store.onCommit = fault;
    assertEquals(await codeOf(request), "outcome_unknown");
    const other = { ...addition(service), idempotencyKey: "two" };
    const codes = { "is locked": "store_unavailable", "is full": "storage_full" };
    assertEquals(await codeOf(other), codes[how]);
    store.onCommit = COMMIT_FAULTS.lands;
    assertEquals(await codeOf(request), "stored");
  });
}

Deno.test("append() rejects a retry with outcome_unknown if the unclear request has landed before it, and cannot be found", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { appender, runtime } = service;
  const codeOf = (command: Command<unknown, EventBody>) =>
    runtime.settle(appender.append(command).then(() => "stored", serviceErrorCode));
  let land!: () => Promise<string | null>;
  store.nextCommits.push((apply) => {
    land = apply;
    return new Promise(() => {});
  });
  store.onCommit = fails;
  const request = { ...addition(service), idempotencyKey: "one" };
  assertEquals(await codeOf(request), "outcome_unknown");
  await runtime.advance(APPEND_LIMIT_MS);
  store.onCommit = COMMIT_FAULTS.lands;
  store.nextCommits.push(async (apply) => {
    await land();
    return await apply();
  });
  let attempts = 0;
  const prepare = () => {
    attempts++;
    if (attempts > 1) throw new StoreAwayError("gone");
  };
  const retry = { ...addition(service), idempotencyKey: "one", prepare };
  assertEquals([await codeOf(retry), attempts > 2], ["outcome_unknown", true]);
  assertEquals(await codeOf(addition(service)), "stored");
  await assertSound(service, 2);
});

Deno.test("append() rejects a command with outcome_unknown if another one with its Idempotency-Key has landed, and cannot be found", async () => {
  await using opened = await open();
  const { service, holdFirst } = opened;
  const { first, release } = await holdFirst();
  const request = { ...addition(service), idempotencyKey: "one" };
  const stored = service.appender.append(request);
  let attempts = 0;
  const prepare = () => {
    attempts++;
    if (attempts > 1) throw new StoreAwayError("gone");
  };
  const repeated = service.appender.append({ ...addition(service), idempotencyKey: "one", prepare })
    .catch(serviceErrorCode);
  release();
  assertEquals([(await first).status, (await stored).events.length], [201, 1]);
  assertEquals(await service.runtime.settle(repeated), "outcome_unknown");
});

Deno.test("append() stores nothing of commands that reach their deadlines while a first event is looked up", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { appender, runtime } = service;
  store.onCommit = isLocked;
  const outcomes = [appender.append(addition(service)), issueApiKey(service, { label: "new" })]
    .map((outcome) => outcome.then(() => "stored", serviceErrorCode));
  await runtime.advance(APPEND_LIMIT_MS / 2);
  store.onCommit = COMMIT_FAULTS.lands;
  store.onGet = async (apply) => {
    await sleep(runtime, APPEND_LIMIT_MS / 2);
    return await apply();
  };
  const codes = await runtime.settle(Promise.all(outcomes));
  assertEquals(codes, ["store_unavailable", "store_unavailable"]);
  await runtime.advance(APPEND_LIMIT_MS);
  store.onGet = (apply) => apply();
  const { head: { position } } = await service.heads.read();
  assertEquals(position, 1);
});

Deno.test("append() stores nothing by a clock beyond the year 9999, and says that it must be set", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const ms = Date.UTC(10_000, 0) - service.runtime.now();
  service.runtime.jumpClock(ms - 1);
  assertEquals((await service.add(REX)).status, 201);
  service.runtime.jumpClock(1);
  const message = /^The clock of this machine says year 10000, which cannot be right: set it$/;
  await assertError(await service.add(REX), { status: 503, code: "store_unavailable", message });
  await assertRejects(() => issueApiKey(service, { label: "late" }), ServiceError, "set it");
  assertEquals(store.commits.length, 1);
  service.runtime.jumpClock(-ms);
  assertEquals((await service.add(REX)).status, 201);
  await assertSound(service, 2);
});

Deno.test("append() counts appended events, conflicts and unclear commits", async () => {
  const counts: string[] = [];
  const count = (what: string, attributes = {}) => {
    counts.push([what, ...Object.values(attributes)].join(" "));
  };
  await using opened = await open({ instrumentation: { ...NO_INSTRUMENTATION, count } });
  const { service, store, openOther } = opened;
  counts.splice(0);
  assertEquals((await service.add(REX)).status, 201);
  await openOther().add(REX);
  assertEquals((await service.runtime.settle(service.add(REX))).status, 201);
  store.nextCommits.push(landsAndFails);
  assertEquals((await service.runtime.settle(service.add(REX))).status, 201);
  const appended = "events.appended PetCreated";
  assertEquals(counts, [appended, "commit.conflicts", appended, "commit.unclear", appended]);
});

Deno.test("append() keeps no command that it rejected while no head can be read, and drain() ends", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { runtime } = service;
  const { appender } = new EventStore(APPLICATION, store, { runtime });
  store.onGet = () => Promise.reject(new StoreAwayError("gone"));
  const appendAll = () =>
    Promise.all(Array.from({ length: QUEUE_LIMIT }, () => {
      return appender.append(NOTHING).catch(serviceErrorCode);
    }));
  for (let round = 0; round < 2; round++) {
    const codes = await runtime.settle(appendAll());
    assertEquals([...new Set(codes)], ["store_unavailable"]);
    assertEquals(appender.queueLength, 0);
  }
  let isDrained = false;
  void appender.drain().then(() => isDrained = true);
  await runtime.advance(1_000);
  // The test ends even if the appender still tries.
  store.onGet = (apply) => apply();
  assert(isDrained);
});

const ADDITIONS = 2_048;

Deno.test("append() prepares each of 2,048 commands with Idempotency-Keys once, and decides few of them twice", async () => {
  await using opened = await open();
  const { service, store, holdFirst } = opened;
  const { first, release } = await holdFirst();
  const counts = { prepare: 0, decide: 0 };
  const appended = Array.from({ length: ADDITIONS }, (_, index) => {
    const { decide, ...command } = addition(service);
    const idempotencyKey = sha256Hex(`${index}`);
    return service.appender.append({
      ...command,
      idempotencyKey,
      prepare: () => void counts.prepare++,
      decide(head, prepared) {
        counts.decide++;
        return decide(head, prepared).map((event) => ({ ...event, idempotencyKey }));
      },
    });
  });
  release();
  assertEquals((await first).status, 201);
  await service.runtime.settle(Promise.all(appended));
  assertEquals([counts.prepare, store.commits.length], [ADDITIONS, 1 + 7]);
  assertLessOrEqual(counts.decide, 1.1 * ADDITIONS);
  await assertSound(service, ADDITIONS + 1);
});

Deno.test("append() plans as many small commands as fit again after a commit of few large ones", async () => {
  await using opened = await open();
  const { service, store, holdFirst } = opened;
  const appendAll = async (count: number, name: string) => {
    const { first, release } = await holdFirst();
    const pet = { name, categoryId: 1n };
    const appended = Array.from({ length: count }, () => {
      return service.appender.append(addPetCommand(service.runtime, service.keyId, pet));
    });
    const before = store.commits.length;
    release();
    assertEquals((await first).status, 201);
    await service.runtime.settle(Promise.all(appended));
    return store.commits.length - before;
  };
  const large = await appendAll(200, "\u{1F60A}".repeat(1_000));
  assertGreater(large, 1);
  assertEquals(await appendAll(ADDITIONS, "Rex"), 4);
  await assertSound(service, 200 + ADDITIONS + 2);
});

Deno.test("append() of a command that is prepared for 300 ms delays others once and shortly, and lands after a commit every 5 ms", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { appender, runtime } = service;
  store.onCommit = slowly(runtime, 5);
  let preparations = 0;
  const prepare = () => {
    preparations++;
    return sleep(runtime, 300);
  };
  let slowMs: number | undefined;
  void timed(runtime, appender.append({ ...addition(service), prepare }))
    .then((ms) => slowMs = ms);
  const waits: number[] = [];
  while (slowMs === undefined) {
    waits.push(await inSteps(runtime, timed(runtime, appender.append(addition(service)))));
  }
  assertEquals([slowMs <= 310, preparations], [true, 1], `${slowMs} ms`);
  const [longest, next] = waits.toSorted((one, other) => other - one);
  assertEquals([longest <= 90, next <= 10], [true, true], `${longest} ms, ${next} ms`);
  assertGreater(waits.length, 40);
  await assertSound(service, waits.length + 1);
});

/** What happens while a change of pet 1 is prepared, and how often it is prepared then. */
const DURING_PREPARATION: Record<string, [during: (opened: Opened) => Promise<unknown>, number]> = {
  "another pet is added": [({ service }) => service.add(REX), 1],
  "its pet is changed": [({ service }) => service.change(1, { name: "Max" }), 1],
  "its Idempotency-Key is used": [
    ({ service }) => service.appender.append({ ...addition(service), idempotencyKey: "one" }),
    2,
  ],
  "an API key is issued": [({ service }) => issueApiKey(service, { label: "new" }), 2],
  "another instance adds a pet": [({ openOther }) => openOther().add(REX), 2],
};

for (const [what, [during, expected]] of Object.entries(DURING_PREPARATION)) {
  Deno.test(`append() prepares a command ${expected === 1 ? "once" : "again"} if ${what} meanwhile`, async () => {
    await using opened = await open();
    const { service } = opened;
    const { appender, runtime } = service;
    assertEquals((await service.add(REX)).status, 201);
    const { head: { position } } = await service.heads.read();
    let preparations = 0;
    let lastName: string | undefined;
    const changed = appender.append({
      subject: "pets/1",
      idempotencyKey: "one",
      async prepare() {
        preparations++;
        await sleep(runtime, 300);
      },
      decide(_head, _prepared, last) {
        const before = last?.type === "PetUpdated" ? last.data.name : "Rex";
        lastName = before;
        const time = new Date(runtime.now()).toISOString();
        const event = { id: "01K00000000000000000000000", time, actor: service.keyId };
        const data = { id: 1, name: "Tom", categoryId: 1n, previous: { name: before } };
        return [{ ...event, predecessor: last?.position ?? position, type: "PetUpdated", data }];
      },
    });
    await runtime.advance(0);
    await runtime.settle(during(opened));
    const { events } = await runtime.settle(changed);
    assertEquals([events.length, preparations], [1, expected]);
    assertEquals(lastName, what === "its pet is changed" ? "Max" : "Rex");
    const { sound, faults } = await audit(service);
    assertEquals({ sound, faults }, { sound: true, faults: [] });
  });
}

Deno.test("append() accepts and soon commits each command of an owner while another one has 5,000 that take a commit each", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { appender, runtime } = service;
  store.onCommit = slowly(runtime, 10);
  let isOver = false;
  const outcomes: Record<string, number> = {};
  const repeat = async () => {
    while (!isOver) {
      const command = { ...addition(service), owner: "one", group: "one a commit" };
      const outcome = await appender.append(command).then(() => "stored", serviceErrorCode);
      outcomes[outcome!] = (outcomes[outcome!] ?? 0) + 1;
      // A client waits before it tries again.
      if (outcome !== "stored") await sleep(runtime, 1_000);
    }
  };
  const clients = Array.from({ length: 5_000 }, repeat);
  await runtime.advance(0);
  let longest = 0;
  for (let count = 0; count < 100; count++) {
    const appended = appender.append({ ...addition(service), owner: "two" });
    longest = Math.max(longest, await inSteps(runtime, timed(runtime, appended)));
  }
  assertLessOrEqual(longest, 50);
  isOver = true;
  await runtime.settle(Promise.all(clients));
  assertGreater(outcomes.stored, 100);
  assertGreater(outcomes.overloaded, 500);
});

Deno.test("append() soon decides a refusal about a pet that the requests of another key change in each commit", async () => {
  await using opened = await open();
  const { service, store } = opened;
  const { runtime } = service;
  assertEquals((await service.add(REX)).status, 201);
  const { token } = await issueApiKey(service, { label: "other" });
  store.onCommit = slowly(runtime, 10);
  const changes: Promise<Response>[] = [];
  let isOver = false;
  const changeOften = async () => {
    while (!isOver) {
      changes.push(service.change(1, { name: `Rex ${changes.length}` }));
      await sleep(runtime, 3);
    }
  };
  void changeOften();
  await runtime.advance(15);
  const headers = { authorization: `Bearer ${token}`, "if-match": '"1f2e"' };
  const startedAt = runtime.monotonicNow();
  const refused = await inSteps(runtime, service.change(1, { name: "Max" }, headers));
  await assertError(refused, { status: 412, code: "precondition_failed" });
  assertLessOrEqual(runtime.monotonicNow() - startedAt, 50);
  isOver = true;
  const statuses = (await runtime.settle(Promise.all(changes))).map(({ status }) => status);
  assertEquals([...new Set(statuses)], [200]);
});

Deno.test("append() takes the next command of a group when the one before it is rejected while it is being prepared", async () => {
  await using opened = await open();
  const { appender, runtime } = opened.service;
  const group = "one a commit";
  const prepare = () => new Promise<never>(() => {});
  const stuck = appender.append({ ...NOTHING, group, prepare }).catch(serviceErrorCode);
  await runtime.advance(APPEND_LIMIT_MS - 1_000);
  const next = appender.append({ ...addition(opened.service), group });
  assertEquals(await runtime.settle(stuck), "store_unavailable");
  const { events } = await runtime.settle(next);
  assertEquals(events.length, 1);
});

type Opened = Awaited<ReturnType<typeof open>>;

function slowly(runtime: TestService["runtime"], ms: number): CommitFault {
  return async (apply) => {
    await sleep(runtime, ms);
    return await apply();
  };
}

/** How long work takes, in milliseconds. */
async function timed(runtime: TestService["runtime"], work: Promise<unknown>): Promise<number> {
  const startedAt = runtime.monotonicNow();
  await work;
  return runtime.monotonicNow() - startedAt;
}

/** Advances time by a millisecond at a time until work settles. */
async function inSteps<T>(runtime: TestService["runtime"], work: Promise<T>): Promise<T> {
  let isSettled = false;
  work.catch(() => {}).finally(() => isSettled = true);
  while (!isSettled) await runtime.advance(1);
  return await work;
}

const NOTHING: Command<unknown, EventBody> = { prepare: () => {}, decide: () => [] };

function addition({ runtime, keyId }: TestService): Command<unknown, EventBody> {
  return addPetCommand(runtime, keyId, { name: "Rex", categoryId: 1n, status: "sold" });
}

/** The ids in the responses, sorted. */
async function idsOf(responses: Response[]): Promise<number[]> {
  const ids = await Promise.all(responses.map(async (it) => (await it.json()).id as number));
  return ids.sort((one, other) => one - other);
}

/** Asserts that the store is sound and holds exactly that many pets. */
async function assertSound(service: TestService, pets: number): Promise<void> {
  const { sound, faults, summary: { pets: found } } = await audit(service);
  assertEquals({ sound, faults, pets: found }, { sound: true, faults: [], pets });
}
