import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import {
  encodeEvent,
  type EventBody,
  type EventMetadata,
  GENESIS_HASH,
  OPERATOR,
  type RecordedLine,
} from "../../events/event.ts";
import { PET_STATUSES } from "../../events/pet.ts";
import { Batch } from "../../src/append/batch.ts";
import { planAppend } from "../../src/append/planned_append.ts";
import { QueuedCommand } from "../../src/append/queued_command.ts";
import { sha256Hex } from "../../src/encoding/sha256.ts";
import { HEAD_KEY, keyBytes, recordMutation } from "../../src/keyspace.ts";
import { groupForCommits } from "../../src/log/append_size.ts";
import { EMPTY_HEAD, encodeHead, type Head } from "../../src/log/head.ts";
import { logMutations } from "../../src/log/read_log.ts";
import { project } from "../../src/projections/project.ts";
import { KV_LIMITS, KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { Mutation } from "../../src/store/store.ts";
import { StoreRefusedError } from "../../src/store/store_errors.ts";
import { sampleId } from "../support/sample_log.ts";

const TIME = "2026-01-01T00:00:00.000Z";
const NOW = Date.parse(TIME);
const ACTOR = sampleId(1);
const encoder = new TextEncoder();

type Event = EventBody & Pick<EventMetadata, "actor" | "idempotencyKey">;

const pet = (name: string, index: number, isIdempotent = false): Event => {
  const status = [...PET_STATUSES, undefined][index % 4];
  const data = { id: index + 1, name, categoryId: 9_223_372_036_854_775_807n };
  return {
    type: "PetCreated",
    data: status === undefined ? data : { ...data, status },
    actor: ACTOR,
    ...(isIdempotent ? { idempotencyKey: sha256Hex(`order ${index}`) } : {}),
  };
};

const key = (label: string, index: number): Event => {
  const data = { keyId: sampleId(index), tokenHash: sha256Hex(`token ${index}`), label };
  return { type: "ApiKeyIssued", data: { ...data, expiresAt: TIME }, actor: OPERATOR };
};

/** Events that make a commit as large as possible in one way each. */
const KINDS: Record<string, (index: number) => Event> = {
  "short pets": (index) => pet("a", index),
  "short pets with an Idempotency-Key": (index) => pet("a", index, true),
  ...Object.fromEntries(
    [100, 240, 300, 400, 500, 800, 1_000].map((length) => [
      `names of ${length} characters, all with a status and an Idempotency-Key`,
      (index: number) => pet("a".repeat(length), 4 * index, true),
    ]),
  ),
  "names of 440 characters, so that a record holds one pet": (index) => {
    return pet("a".repeat(440), 4 * index);
  },
  "names of 4-byte characters": (index) => pet("😀".repeat(500), index),
  "names of 3-byte characters": (index) => pet("猫".repeat(1_000), index),
  "names of control characters": (index) => pet("\u0001".repeat(1_000), index, true),
  "keys with long labels": (index) => key("猫".repeat(100), index),
  "revocations": (index) => {
    const data = { keyId: sampleId(index), tokenHash: sha256Hex(`${index}`), effectiveAt: TIME };
    return { type: "ApiKeyRevoked", data, actor: OPERATOR };
  },
  "all kinds": (index) => {
    const names = ["a", "猫".repeat(index % 1_000 + 1), "\u0001".repeat(index * 7 % 1_000 + 1)];
    if (index % 11 === 10) return key("ü".repeat(index % 100 + 1), index);
    return pet(names[index % 3], index, index % 2 === 0);
  },
};

function lineAt(position: number, event: Event): RecordedLine {
  const recorded = {
    ...event,
    id: sampleId(position),
    time: TIME,
    position,
    previousHash: GENESIS_HASH,
  };
  return { event: recorded, line: encoder.encode(encodeEvent(recorded)) };
}

const HEAD_MUTATION: Mutation = {
  type: "set",
  key: HEAD_KEY,
  value: encodeHead({
    ...EMPTY_HEAD,
    position: Number.MAX_SAFE_INTEGER,
    lastPetId: Number.MAX_SAFE_INTEGER,
    building: { generation: Number.MAX_SAFE_INTEGER, until: Number.MAX_SAFE_INTEGER },
  }),
};

/** Commits mutations to Deno KV, which checks its limits. */
async function commitToKv(mutations: Mutation[]): Promise<void> {
  const store = new KvStore(await Deno.openKv(":memory:"));
  try {
    assert(await store.commit({ checks: [], mutations }) !== null);
  } finally {
    store.close();
  }
}

Deno.test("Deno KV rejects a commit beyond its limits, so the other tests are meaningful", async () => {
  const set = (index: number, length: number): Mutation => {
    return { type: "set", key: ["n", index], value: new Uint8Array(length) };
  };
  const bytes = (length: number) => Array.from({ length: 13 }, (_, index) => set(index, length));
  await commitToKv(bytes(62_000));
  await assertRejects(() => commitToKv(bytes(64_000)), StoreRefusedError);
  const many = (count: number) => Array.from({ length: count }, (_, index) => set(index, 1));
  await commitToKv(many(KV_LIMITS.commitMutations));
  await assertRejects(() => commitToKv(many(KV_LIMITS.commitMutations + 1)), StoreRefusedError);
});

Deno.test("groupForCommits() makes groups that fit into one commit of Deno KV, and that are not needlessly small", async () => {
  for (const [kind, eventOf] of Object.entries(KINDS)) {
    const lines = Array.from({ length: 3_000 }, (_, index) => lineAt(index + 1, eventOf(index)));
    for (const withLog of [true, false]) {
      for (const generations of [1, 2]) {
        const groups = await Array.fromAsync(
          groupForCommits(ReadableStream.from([lines.slice(0, 7), lines.slice(7)]), {
            generations,
            withLog,
            limits: KV_LIMITS,
          }),
        );
        const name = `${kind}, ${generations} generations, ${withLog ? "with" : "without"} log`;
        assertEquals(groups.flat().length, lines.length, name);
        assert(groups.flat().every((line, index) => line === lines[index]), name);
        const commits = groups.map((group) => mutationsOf(group, generations, withLog));
        for (const mutations of commits) await commitToKv([...mutations, HEAD_MUTATION]);
        if (commits.length === 1) continue;
        // The size of keys is only estimated.
        const isFull = bytesOf(commits[0]) > 0.5 * KV_LIMITS.commitBytes ||
          commits[0].length > 300 ||
          keyBytesOf(commits[0]) > 0.5 * KV_LIMITS.commitKeyBytes;
        assert(isFull, `${name}: ${commits[0].length} records, ${bytesOf(commits[0])} bytes`);
      }
    }
  }
});

function mutationsOf(group: RecordedLine[], generations: number, withLog: boolean): Mutation[] {
  const records = project(group);
  return [
    ...(withLog ? logMutations(group[0].event.position, group.map(({ line }) => line)) : []),
    ...Array.from({ length: generations }, (_, index) => index + 1).flatMap((generation) =>
      records.map((record) => recordMutation(generation, record, NOW))
    ),
  ];
}

function keyBytesOf(mutations: Mutation[]): number {
  return mutations.reduce((sum, { key }) => sum + keyBytes(key), 0);
}

function bytesOf(mutations: Mutation[]): number {
  return mutations.reduce((sum, it) => sum + (it.type === "set" ? it.value.length : 0), 0);
}

Deno.test("Batch.seal() makes a commit that Deno KV accepts, however many commands wait", async () => {
  for (const [kind, eventOf] of Object.entries(KINDS)) {
    for (const building of [undefined, { generation: 2, until: 5 }]) {
      const head: Head = { ...EMPTY_HEAD, ...(building === undefined ? {} : { building }) };
      const batch = new Batch({ head, versionstamp: null }, KV_LIMITS);
      for (let index = 0; index < 3_000; index++) {
        const { actor, idempotencyKey, ...body } = eventOf(index);
        const decided = { ...body, id: sampleId(index), time: TIME, actor, idempotencyKey };
        const command = { prepare: () => {}, decide: () => [decided as EventBody & EventMetadata] };
        const plan = planAppend(command, batch.next);
        if (!batch.hasRoomFor(plan)) break;
        batch.add(new QueuedCommand(command, Infinity, undefined), plan);
      }
      const { commit, events } = batch.seal(project, NOW);
      await commitToKv(commit.mutations);
      // The batch of an API key event takes nothing more.
      const isOfKey = eventOf(0).type !== "PetCreated";
      assertGreater(events, isOfKey ? 0 : 9, kind);
    }
  }
});

Deno.test("Batch.seal() writes a handful of records for a dozen pets without an Idempotency-Key", () => {
  const batch = new Batch({ head: EMPTY_HEAD, versionstamp: null }, KV_LIMITS);
  for (let index = 0; index < 12; index++) {
    const { actor, ...body } = KINDS["short pets"](index);
    const decided = { ...body, id: sampleId(index), time: TIME, actor };
    const command = { prepare: () => {}, decide: () => [decided as EventBody & EventMetadata] };
    batch.add(
      new QueuedCommand(command, Infinity, undefined),
      planAppend(command, batch.next),
    );
  }
  const { commit, events } = batch.seal(project, NOW);
  assertEquals(events, 12);
  const keys = commit.mutations.map(({ key }) => key.filter((part) => typeof part === "string"));
  assertEquals(keys, [
    ["~log"],
    ["projection", "pet"],
    ["projection", "pet_by_status", "available"],
    ["projection", "pet_by_status", "pending"],
    ["projection", "pet_by_status", "sold"],
    ["head"],
  ]);
});
