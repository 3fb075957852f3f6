import { audit, replay } from "../../support/tools.ts";
import { APPLICATION } from "../../../src/application.ts";
import { petKey } from "../../../src/animals/pet_keys.ts";
import { assertEquals, assertGreater, assertMatch, assertRejects } from "@std/assert";
import { readHead } from "../../../src/eventstore_less/log/head.ts";
import { UnsoundError } from "../../../src/eventstore_less/tools/unsound_error.ts";
import { LogDamagedError } from "../../../src/eventstore_less/log/read_log.ts";
import { ReplayOvertakenError } from "../../../src/eventstore_less/tools/guarded/replay_claim.ts";
import { createService } from "../../../src/service.ts";
import {
  HEAD_KEY,
  LOG_PREFIX,
  projectionKey,
  REPLAY_KEY,
} from "../../../src/eventstore_less/keyspace.ts";
import { formatKey } from "../../../src/eventstore_less/store/key_encoding.ts";
import type { Key, Mutation, Store } from "../../../src/eventstore_less/store/store.ts";
import { addPetCommand } from "../../support/add_pet_command.ts";
import { contentOfGeneration, recordsOf } from "../../support/sound_log.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { atCommit, faultyStore, hold } from "../../support/faulty_store.ts";
import { setRecord } from "../../support/set_record.ts";
import { commit, set } from "../../support/store_contract.ts";
import { SAMPLE_STEP } from "../../support/sample_step.ts";

type Sample = Awaited<ReturnType<typeof openSampleStore>>;

const NO_GRACE = { graceMs: 0 };

/** A store whose commits are small, so that a replay needs several. */
function smallCommits(store: Store): Store {
  return Object.assign(faultyStore(store), { limits: { ...store.limits, commitMutations: 34 } });
}

Deno.test("replay() serves a new generation with the same content, and removes the old one", async () => {
  using sample = await openSampleStore(60);
  const before = await contentOfGeneration(sample.store, 1);
  const { generation, events } = await replay(sample, NO_GRACE);
  assertEquals([generation, events], [2, 60]);
  assertEquals(await contentOfGeneration(sample.store, 2), before);
  assertEquals(await contentOfGeneration(sample.store, 1), {});
  assertEquals((await readHead(APPLICATION, sample.store)).head, { ...sample.head, generation: 2 });
  assertEquals(await sample.store.get(REPLAY_KEY), null);
  assertEquals((await audit(sample)).sound, true);
});

Deno.test("replay() leaves nothing of what was wrong in the old generation, nor records of kinds of an earlier version", async () => {
  using sample = await openSampleStore(60);
  const pets = await sample.store.list({ prefix: projectionKey(1, petKey("sold")) }, { limit: 2 });
  const [missing, altered] = pets.map(({ key }) => key);
  const extra = [petKey("none", altered.at(-1) as number), petKey("sold", 7_000)]
    .map((key) => projectionKey(1, key));
  const changed = [altered, ...extra].map((key) => setRecord(key, "{}"));
  const block = setRecord(projectionKey(1, ["block_of_pets", 1]), "{}\n");
  await commit(sample.store, [{ type: "delete", key: missing }, ...changed, block]);
  const { counts } = await audit(sample);
  assertEquals(counts, { record_missing: 1, record_extra: 3, record_altered: 1 });
  await replay(sample, NO_GRACE);
  assertEquals((await audit(sample)).faults, []);
  assertEquals(await generationsIn(sample.store), [2]);
});

Deno.test("replay() of an unsound log rejects and restores the store, even while it writes", async () => {
  using sample = await openSampleStore(100);
  const { runtime } = sample;
  const records = await sample.store.list({ prefix: LOG_PREFIX }, { limit: 100 });
  const positions = records.map(({ key }) => key[1] as number);
  // The first one is read before the first commit, the last one while commits are under way.
  for (const index of [1, positions.length - 2]) {
    const record = records[index];
    await commit(sample.store, [{ type: "delete", key: record.key }]);
    const before = await recordsOf(sample.store);
    const fault = `Position ${positions[index - 1] + 1} of the log is missing`;
    const store = smallCommits(sample.store);
    await assertRejects(() => replay({ store, runtime }, NO_GRACE), LogDamagedError, fault);
    assertEquals(await recordsOf(sample.store), before);
    await commit(sample.store, [set(record.key, record.value as Uint8Array)]);
  }
});

function isNew({ key }: Mutation): boolean {
  return key[0] === "projection" && key[1] === 2;
}

const WRONG_WRITES: Record<string, (mutation: Mutation) => Mutation[]> = {
  missing: () => [],
  altered: ({ key }) => [setRecord(key, "{}")],
  extra: (mutation) => [mutation, setRecord([...mutation.key, "again"], "{}")],
};

/** Replays in several commits, and resolves to the mutations that fill. Mutation number `wrong` gets a fault. */
async function fill(
  { store, runtime }: Sample,
  wrong = -1,
  fault = WRONG_WRITES.missing,
): Promise<Mutation[]> {
  const written: Mutation[] = [];
  const small = smallCommits(store);
  const faulty = faultyStore(small, {
    onCommit(_apply, { guard, mutations }) {
      const changed = mutations.flatMap((it) =>
        isNew(it) && written.push(it) === wrong + 1 ? fault(it) : [it]
      );
      return small.commit({ guard, mutations: changed });
    },
  });
  await replay({ store: faulty, runtime }, NO_GRACE);
  return written;
}

Deno.test("replay() withdraws the new generation if any of its records does not match the log", async () => {
  using sound = await openSampleStore(100);
  const mutations = await fill(sound);
  assertGreater(mutations.length, 2 * smallCommits(sound.store).limits.commitMutations);
  const keys = mutations.map(({ key }) => formatKey(key));
  // A later commit that writes the same record again corrects the fault. A record that was never there need not be deleted.
  const isSetBefore = (index: number) =>
    mutations.slice(0, index).some(({ type }, it) => type === "set" && keys[it] === keys[index]);
  const lasting = mutations.keys().toArray().filter((index) =>
    keys.lastIndexOf(keys[index]) === index &&
    (mutations[index].type === "set" || isSetBefore(index))
  );
  const removal = lasting.findLast((index) => mutations[index].type === "delete")!;
  const numbers = lasting.filter((_, place) => place % (5 * SAMPLE_STEP) === 0);
  assertGreater(numbers.length, 20 / SAMPLE_STEP);
  for (const wrong of [...numbers, lasting.at(-1)!, removal]) {
    for (const [name, fault] of Object.entries(WRONG_WRITES)) {
      using sample = await openSampleStore(100);
      // Events of the future may lack their idempotency records.
      await sample.runtime.advance(60 * 60 * 1_000);
      const { message } = await assertRejects(() => fill(sample, wrong, fault), UnsoundError);
      assertMatch(message, /^The rebuilt projections differ from the log in 1 records, /);
      assertEquals((await readHead(APPLICATION, sample.store)).head, sample.head);
      assertEquals(await generationsIn(sample.store), [1], `mutation ${wrong} ${name}`);
    }
  }
});

Deno.test("replay() keeps nothing of what an earlier run, which was killed, has written", async () => {
  using sample = await openSampleStore(SMALL);
  const left = [projectionKey(2, petKey("sold", 99)), projectionKey(7, petKey("sold", 1))];
  await commit(sample.store, left.map((it) => setRecord(it, "{}")));
  await replay(sample, NO_GRACE);
  assertEquals((await audit(sample)).faults, []);
  assertEquals(await generationsIn(sample.store), [2]);
});

Deno.test("replay() serves the records of all events that come before its last commit, few or more than a commit stores", async () => {
  for (const count of [1, 40]) {
    using sample = await openSampleStore(SMALL);
    let added = 0;
    const addSome = async () => {
      if (added === 8 * count) return;
      added += count;
      await Promise.all(Array.from({ length: count }, () => addPet(sample)));
    };
    const isHead = ([kind]: Key) => kind === HEAD_KEY[0];
    const store = faultyStore(smallCommits(sample.store), {
      // The head moves before each read of it, and before each commit that replaces it.
      async onGet(apply, key) {
        if (isHead(key)) await addSome();
        return await apply();
      },
      async onCommit(apply, { guard }, number) {
        // The first commit makes the claim.
        if (number > 1 && isHead(guard.key)) await addSome();
        return await apply();
      },
    });
    const { runtime } = sample;
    const { events } = await runtime.settle(replay({ store, runtime }, NO_GRACE));
    const { faults, position } = await audit(sample);
    assertEquals([faults, events, position], [[], SMALL + added, SMALL + 8 * count]);
  }
});

Deno.test("replay() keeps the old generation for the whole grace period", async () => {
  using sample = await openSampleStore(SMALL);
  const outcome = replay(sample, { graceMs: 5_000 });
  await isServed(2, sample.store);
  await sample.runtime.advance(4_900);
  assertEquals(await generationsIn(sample.store), [1, 2]);
  const { faults, notes } = await audit(sample);
  assertEquals([faults, notes[0].kind], [[], "replay_not_ended"]);
  await sample.runtime.settle(outcome);
  assertEquals(await generationsIn(sample.store), [2]);
});

Deno.test("replay() writes nothing after another replay has taken over", async () => {
  using whole = await openSampleStore(SMALL);
  const counted = faultyStore(whole.store);
  await replay({ store: counted, runtime: whole.runtime }, NO_GRACE);
  const commits = counted.commits.length;
  // The first commit makes the claim, and the last one removes it.
  for (let last = 2; last < commits; last++) {
    using sample = await openSampleStore(SMALL);
    const { fault, reached, release } = hold();
    const store = faultyStore(sample.store, { onCommit: atCommit(last, fault) });
    const overtaken = replay({ store, runtime: sample.runtime }, NO_GRACE);
    overtaken.catch(() => {});
    await reached;
    await sample.runtime.settle(replay(sample, NO_GRACE));
    const before = await recordsOf(sample.store);
    release();
    await assertRejects(() => sample.runtime.settle(overtaken), ReplayOvertakenError);
    assertEquals(await recordsOf(sample.store), before, `held at commit ${last} of ${commits}`);
  }
});

Deno.test("replay() takes over from one that runs, and of two that start at the same moment, one rejects", async () => {
  for (const isLater of [true, false]) {
    using sample = await openSampleStore(SMALL);
    const first = replay(sample, { graceMs: 20_000 });
    if (isLater) await isServed(2, sample.store);
    const both = [first, replay(sample, { graceMs: 20_000 })];
    const outcomes = await sample.runtime.settle(Promise.allSettled(both));
    const reasons = outcomes.map((it) => it.status === "rejected" ? String(it.reason) : "done");
    const overtaken = "ReplayOvertakenError: Another replay was started, and continues";
    assertEquals(reasons.toSorted(), [overtaken, "done"]);
    if (isLater) assertEquals(reasons[0], overtaken);
    assertEquals((await audit(sample)).faults, []);
    const { generation } = (await readHead(APPLICATION, sample.store)).head;
    assertEquals(await generationsIn(sample.store), [generation]);
    if (isLater) assertEquals(generation, 3);
  }
});

Deno.test("replay() omits records that have expired by the clock and by the log, and none by the clock alone", async () => {
  using sample = await openSampleStore(60);
  const keysIn = async (generation: number) =>
    Object.keys(await contentOfGeneration(sample.store, generation))
      .filter((key) => key.includes("event_by_idempotency_key"));
  const keys = await keysIn(1);
  assertGreater(keys.length, 0);
  const { runtime } = sample;
  await runtime.advance(26 * 60 * 60 * 1_000);
  for (const [generation, left] of [[2, keys], [3, []]] as const) {
    await runtime.settle(replay(sample, NO_GRACE));
    assertEquals(await keysIn(generation), left);
    await addPet(sample);
  }
  assertEquals((await audit(sample)).faults, []);
});

Deno.test("replay() takes no record for missing that it has omitted, although the clock is set back meanwhile", async () => {
  using sample = await openSampleStore(60);
  const { runtime } = sample;
  await runtime.advance(26 * 60 * 60 * 1_000);
  await addPet(sample);
  const store = faultyStore(sample.store, {
    onCommit(apply, { mutations }) {
      if (mutations.some(isNew)) runtime.jumpClock(-26 * 60 * 60 * 1_000);
      return apply();
    },
  });
  const { generation } = await runtime.settle(replay({ store, runtime }, NO_GRACE));
  assertEquals(generation, 2);
});

/** Enough events for every step of a replay. */
const SMALL = 12;

async function isServed(generation: number, store: Store): Promise<void> {
  while ((await readHead(APPLICATION, store)).head.generation !== generation) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

async function addPet({ store, runtime, keyId }: Sample): Promise<void> {
  const { appender } = createService({ store, runtime, report: () => {} });
  await appender.append(addPetCommand(runtime, keyId, { name: "Mia", categoryId: 1n }));
}

async function generationsIn(store: Store): Promise<unknown[]> {
  const keys = (await recordsOf(store)).map(([key]) => key);
  return [...new Set(keys.filter(([kind]) => kind === "projection").map((key) => key[1]))];
}
