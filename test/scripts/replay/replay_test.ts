import {
  assertEquals,
  assertGreater,
  assertMatch,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { audit } from "../../../scripts/audit/audit.ts";
import type { Fault as AuditFault } from "../../../scripts/audit/findings.ts";
import { issueKey } from "../../../src/commands/issue_key.ts";
import { readHead } from "../../../src/log/head.ts";
import { UnsoundError } from "../../../scripts/audit/compare.ts";
import { replay } from "../../../scripts/replay/replay.ts";
import { LEASE_LIMIT_MS, ReplayUnderWayError } from "../../../scripts/replay/replay_lease.ts";
import { createService } from "../../../src/service.ts";
import { KvStore } from "../../../src/store/deno_kv/kv_store.ts";
import {
  logKey,
  petByStatusKey,
  petKey,
  projectionKey,
  REPLAY_KEY,
} from "../../../src/keyspace.ts";
import { scan } from "../../../src/store/scan.ts";
import type { Commit, Mutation, SetMutation, Store } from "../../../src/store/store.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { contentOfGeneration } from "../../support/content_of.ts";
import { dyingStore } from "../../support/dying_store.ts";
import { FakeRuntime } from "../../support/fake_runtime.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { openTestService } from "../../support/test_service.ts";
import { atCommit, faultyStore, hold } from "../../support/faulty_store.ts";

type Sample = Awaited<ReturnType<typeof openSampleStore>>;

const NO_GRACE = { graceMs: 0 };

Deno.test("replay() serves a new generation with the same content, and removes the old one", async () => {
  using sample = await openSampleStore(60);
  const before = await contentOfGeneration(sample.store, 1);
  const { generation, events, differences } = await replay(sample, NO_GRACE);
  assertEquals([generation, events, differences.total], [2, 60, 0]);
  assertEquals(await contentOfGeneration(sample.store, 2), before);
  assertEquals(await contentOfGeneration(sample.store, 1), {});
  assertEquals((await readHead(sample.store)).head, { ...sample.head, generation: 2 });
  assertEquals(await sample.store.get(REPLAY_KEY), null);
  assertEquals((await audit(sample)).sound, true);
});

Deno.test("replay() reports how the old generation differed, and corrects it", async () => {
  using sample = await openSampleStore(60);
  // Three records: of pets 5 and 6, of pets 13 to 16, and of a pet that is not in the log.
  const [missing, altered, extra] = [petKey(6), petKey(16), petByStatusKey("sold", 7_000)]
    .map((key) => projectionKey(1, key));
  await sample.store.commit({
    checks: [],
    mutations: [
      { type: "delete", key: missing },
      { type: "set", key: altered, value: "{}" },
      { type: "set", key: extra, value: "{}" },
    ],
  });
  const { differences } = await replay(sample, NO_GRACE);
  assertEquals(differences.counts, { missing: 2, extra: 1, altered: 1 });
  assertEquals(differences.first, {
    missing: { kind: "missing", key: projectionKey(1, petKey(5)), petId: 5, position: 6 },
    altered: { kind: "altered", key: altered, position: 19 },
    extra: { kind: "extra", key: extra },
  });
  assertEquals((await audit(sample)).faults, []);
});

Deno.test("replay() of an unsound log rejects and restores the store, even while it writes", async () => {
  const cases: [length: number, missing: number, fault: string][] = [
    [60, 21, "Position 20 of the log is missing"],
    // More than one commit can write.
    [3_000, 2_996, "Position 2990 of the log is missing"],
  ];
  for (const [length, missing, fault] of cases) {
    using sample = await openSampleStore(length);
    const { runtime } = sample;
    const key = logKey(missing);
    await sample.store.commit({ checks: [], mutations: [{ type: "delete", key }] });
    const before = await allOf(sample.store);
    const store = faultyStore(sample.store, {
      async onCommit(apply) {
        const versionstamp = await apply();
        // The response comes after the damaged line was read.
        await new Promise((resolve) => setTimeout(resolve, 50));
        return versionstamp;
      },
    });
    await assertRejects(() => replay({ store, runtime }, NO_GRACE), UnsoundError, fault);
    assertEquals(await allOf(sample.store), before);
  }
});

function isNew({ key }: Mutation): boolean {
  return key[0] === "projection" && key[1] === 2;
}

const WRONG_WRITES: Record<string, (mutation: SetMutation) => Mutation[]> = {
  missing: () => [],
  altered: (mutation) => [{ ...mutation, value: "{}" }],
  extra: (mutation) => [mutation, { ...mutation, key: [...mutation.key, "again"] }],
};

/** The numbers of records in the commits that fill the new generation. Record number `wrong` gets a fault. */
async function fill(
  { store: inner, runtime }: Sample,
  wrong = 0,
  fault = WRONG_WRITES.missing,
): Promise<number[]> {
  const fills: number[] = [];
  let written = 0;
  const store = faultyStore(inner, {
    onCommit(_apply, { checks, mutations }) {
      const count = mutations.filter((it) => it.type === "set" && isNew(it)).length;
      if (count > 0) fills.push(count);
      const changed = mutations.flatMap((mutation) =>
        mutation.type === "set" && isNew(mutation) && ++written === wrong
          ? fault(mutation)
          : [mutation]
      );
      return inner.commit({ checks, mutations: changed });
    },
  });
  await replay({ store, runtime }, NO_GRACE);
  return fills;
}

Deno.test("replay() withdraws the new generation if any of its records does not match the log", async () => {
  // More than one commit can fill.
  const length = 1_000;
  using sound = await openSampleStore(length);
  const fills = await fill(sound);
  assertGreater(fills.length, 1);
  let last = 0;
  for (const count of fills) {
    last += count;
    for (const [name, fault] of Object.entries(WRONG_WRITES)) {
      for (const wrong of [last - count + 1, last]) {
        using sample = await openSampleStore(length);
        // Events of the future may lack their idempotency records.
        await sample.runtime.advance(60 * 60 * 1_000);
        const { message } = await assertRejects(() => fill(sample, wrong, fault), UnsoundError);
        assertMatch(message, /^The rebuilt projections differ from the log in [1-9]\d* records, /);
        if (name !== "missing") assertMatch(message, / in 1 records, /);
        assertEquals((await readHead(sample.store)).head, sample.head);
        assertEquals(await generationsIn(sample.store), [1], `record ${wrong} ${name}`);
      }
    }
  }
});

Deno.test("replay() also compares what an earlier run has written", async () => {
  // More than one commit can fill.
  using sample = await openSampleStore(3_000);
  const { runtime } = sample;
  const { reached, fault } = hold();
  const isFilling = ({ mutations }: Commit) => mutations.some(isNew);
  let fills = 0;
  const store = faultyStore(sample.store, {
    onCommit: (apply, commit) => isFilling(commit) && ++fills === 2 ? fault(apply) : apply(),
  });
  replay({ store, runtime }, NO_GRACE);
  await reached;
  const [{ key }] = await sample.store.list({ prefix: projectionKey(2, petKey()) }, { limit: 1 });
  await sample.store.commit({ checks: [], mutations: [{ type: "delete", key }] });
  const next = replay(sample, NO_GRACE);
  await runtime.advance(LEASE_LIMIT_MS);
  await assertRejects(() => runtime.settle(next), UnsoundError, "The rebuilt projections differ");
  assertEquals(await generationsIn(sample.store), [1]);
  assertEquals((await runtime.settle(replay(sample, NO_GRACE))).resumedFrom, 0);
  assertEquals((await audit(sample)).faults, []);
});

Deno.test("replay() killed at any commit leaves a sound store, and the next one continues and ends the work", async () => {
  const resumed = new Set<number>();
  for (let last = 1, isDone = false; !isDone; last++) {
    for (const isApplied of [true, false]) {
      // More than one commit can fill.
      using sample = await openSampleStore(400);
      const { runtime } = sample;
      const kill = `a kill at commit ${last}, ${isApplied ? "" : "not "}applied`;
      const { store, killed } = dyingStore(sample.store, last, isApplied);
      const replayed = replay({ store, runtime }, NO_GRACE);
      isDone = await Promise.race([replayed, killed]) !== undefined;
      if (isDone) break;
      assertEquals((await audit(sample)).faults, [], `after ${kill}`);
      await addPets(sample, 3);
      assertEquals((await audit(sample)).faults, [], `additions after ${kill}`);
      const { generation, resumedFrom } = await runtime.settle(replay(sample, NO_GRACE));
      resumed.add(resumedFrom);
      const { faults, notes } = await audit({ ...sample, readExpiringRecords: () => [] });
      assertEquals([faults, notes], [[], []], `replay after ${kill}`);
      assertEquals(await generationsIn(sample.store), [generation], kill);
      assertEquals(await sample.store.get(REPLAY_KEY), null, kill);
      // It asserts that no records overlap.
      await contentOfGeneration(sample.store, generation);
    }
  }
  assertGreater(resumed.size, 2, "the replay was continued at several positions");
});

Deno.test("replay() loses no event that is appended before any of its commits", async () => {
  using sample = await openSampleStore(SMALL);
  let added = 0;
  const faultsBefore: Record<number, AuditFault[]> = {};
  const store = faultyStore(sample.store, {
    async onCommit(apply, _commit, number) {
      // A commit that checks the head fails if the head has moved, so the head does not always move.
      if (number % 2 === 1) added += await addPets(sample, 1);
      const { faults } = await audit(sample);
      if (faults.length > 0) faultsBefore[number] = faults;
      return await apply();
    },
  });
  await sample.runtime.settle(replay({ store, runtime: sample.runtime }, NO_GRACE));
  assertGreater(added, 0);
  assertEquals(faultsBefore, {});
  const { faults, pets } = await audit(sample);
  assertEquals([faults, pets], [[], sample.head.lastPetId + added]);
  assertEquals(await generationsIn(sample.store), [2]);
});

Deno.test("replay() writes nothing after another replay has taken over its lease", async () => {
  using whole = await openSampleStore(SMALL);
  const counted = faultyStore(whole.store);
  await replay({ store: counted, runtime: whole.runtime }, NO_GRACE);
  const commits = counted.commits.length;
  // The first commit takes the lease, and the last one returns it.
  for (let last = 2; last < commits; last++) {
    using sample = await openSampleStore(SMALL);
    const { fault, reached, release } = hold();
    const store = faultyStore(sample.store, { onCommit: atCommit(last, fault) });
    const overtaken = replay({ store, runtime: sample.runtime }, NO_GRACE);
    overtaken.catch(() => {});
    await reached;
    await sample.runtime.settle(replay(sample, NO_GRACE));
    const before = await allOf(sample.store);
    release();
    await assertRejects(() => sample.runtime.settle(overtaken), ReplayUnderWayError);
    assertEquals(await allOf(sample.store), before, `held at commit ${last} of ${commits}`);
  }
});

Deno.test("replay() rejects while another one holds the lease, or if that takes it at the same moment", async () => {
  for (const isLater of [true, false]) {
    using sample = await openSampleStore(SMALL);
    const first = replay(sample, { graceMs: 20_000 });
    if (isLater) await isServed(2, sample.store);
    const both = [first, replay(sample, { graceMs: 20_000 })];
    const outcomes = await sample.runtime.settle(Promise.allSettled(both));
    const reasons = outcomes.flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    assertEquals(reasons.map(String), ["ReplayUnderWayError: Another replay is under way"]);
    assertEquals((await audit(sample)).faults, []);
  }
});

Deno.test("replay() keeps the old generation for the whole grace period", async () => {
  using sample = await openSampleStore(SMALL);
  const outcome = replay(sample, { graceMs: 5_000 });
  await isServed(2, sample.store);
  await sample.runtime.advance(4_900);
  assertEquals(await generationsIn(sample.store), [1, 2]);
  const { faults, notes } = await audit(sample);
  assertEquals(faults, []);
  assertMatch(notes.join(), /^A replay has not ended/);
  await sample.runtime.settle(outcome);
  assertEquals(await generationsIn(sample.store), [2]);
});

Deno.test("replay() of an empty store writes nothing", async () => {
  const store = new KvStore(await Deno.openKv(":memory:"));
  assertEquals((await replay({ store, runtime: new FakeRuntime() }, NO_GRACE)).events, 0);
  assertEquals(await allOf(store), []);
  store.close();
});

Deno.test("replay() omits expired records from the new generation", async () => {
  using sample = await openSampleStore(60);
  const keysIn = async (generation: number) =>
    Object.keys(await contentOfGeneration(sample.store, generation))
      .filter((key) => key.includes("pet_by_idempotency_key"));
  assertNotEquals(await keysIn(1), []);
  await sample.runtime.advance(26 * 60 * 60 * 1_000);
  const { differences } = await sample.runtime.settle(replay(sample, NO_GRACE));
  assertEquals(differences.total, 0);
  assertEquals(await keysIn(2), []);
  assertEquals((await audit(sample)).faults, []);
});

/** Enough events for every step of a replay. */
const SMALL = 12;

async function isServed(generation: number, store: Store): Promise<void> {
  while ((await readHead(store)).head.generation !== generation);
}

/** Adds pets with a new instance of the service. */
async function addPets({ store, runtime, keyId }: Sample, count: number): Promise<number> {
  const { appender } = createService({ store, runtime, report: () => {} });
  const pet = { name: "Mia", categoryId: 1n, status: "sold" as const };
  for (let number = 0; number < count; number++) {
    await appender.append(addPetCommand(runtime, keyId, pet));
  }
  await appender.drain();
  return count;
}

async function generationsIn(store: Store): Promise<number[]> {
  const entries = await Array.fromAsync(scan(store, { prefix: ["projection"] }));
  return [...new Set(entries.flat().map(({ key }) => key[1] as number))];
}

async function allOf(store: Store) {
  const entries = await Array.fromAsync(scan(store, { prefix: [] }));
  return entries.flat().map(({ key, value }) => [key, value]);
}

Deno.test("a key stays valid on an instance that was idle during a replay", async () => {
  await using service = await openTestService();
  assertEquals((await service.add({ name: "Rex", categoryId: 1 })).status, 201);
  // The instance has seen a key event, but has not read the key after it.
  await issueKey(service, { label: "another" });
  const { store, runtime } = service;
  await replay({ store, runtime }, NO_GRACE);
  assertEquals((await service.add({ name: "Mia", categoryId: 1 })).status, 201);
  assertEquals(await (await service.send("/v1/pets/2")).json(), {
    id: 2,
    name: "Mia",
    categoryId: 1,
  });
});
