/** A ColumnReader gives the column as of a head or later, and refuses it if blocks are missing or damaged. */

import { projectionKey } from "eventstore-less/keyspace.ts";
import { readHead } from "eventstore-less/log/head.ts";
import { decodeEvent } from "eventstore-less/log/event.ts";
import { Column } from "eventstore-less/projections/column.ts";
import { ColumnReader } from "eventstore-less/projections/column_reader.ts";
import { ServiceError } from "eventstore-less/service_error.ts";
import type { Store } from "eventstore-less/store/store.ts";
import { COLUMNS } from "eventstore-less/tables.ts";
import type { Logger } from "../../../src/runtime/logger.ts";
import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { replay } from "../../../scripts/replay/replay.ts";
import { audit } from "../../../scripts/verify/audit.ts";
import { faultyStore } from "../../support/faulty_store.ts";
import { sampleLog } from "../../support/sample_log.ts";
import { openSampleStore, writeLog } from "../../support/sample_store.ts";
import { putRecord } from "../../support/set_record.ts";
import { useSmallBlocks } from "../../support/small_blocks.ts";
import { openTestService, otherInstance } from "../../support/test_service.ts";

useSmallBlocks({ length: 4, storedAfter: 8 });

const [PET_LOCATIONS] = COLUMNS;
const LENGTH = 60;

const blockKey = (block: number) => projectionKey(1, [PET_LOCATIONS.kind, block]);

function readerOf(store: Store, report: Logger = () => {}) {
  return new ColumnReader(store, PET_LOCATIONS, report);
}

/** The texts of the subjects after the lines of a log up to a position. */
function textsAfter(lines: string[], position: number) {
  const column = new Column(PET_LOCATIONS);
  for (const line of lines.slice(0, position)) column.add(decodeEvent(line));
  return textsOf(column);
}

function textsOf(column: Column) {
  return Array.from({ length: LENGTH }, (_, index) => column.textOf(index + 1));
}

Deno.test("asOf() gives the column of logs of several lengths", async () => {
  for (let length = 0; length <= LENGTH; length += 7) {
    using sample = await openSampleStore(length);
    const { lines, store } = sample;
    const column = await readerOf(store).asOf((await readHead(store)).head);
    assertEquals(textsOf(column), textsAfter(lines, length));
  }
});

Deno.test("asOf() follows what others append, and gives a column of a later head for an earlier one", async () => {
  using sample = await openSampleStore(0);
  const { runtime, store } = sample;
  const reader = readerOf(store);
  const { head } = await readHead(store);
  await reader.asOf(head);
  const lines = sampleLog(LENGTH, runtime.now());
  await writeLog(store, runtime, lines);
  const later = await reader.asOf((await readHead(store)).head);
  assertEquals(textsOf(later), textsAfter(lines, LENGTH));
  assertEquals(await reader.asOf(head), later);
});

Deno.test("asOf() gives the column as of its head or a later one, although others append or a replay ends during any of its reads", async () => {
  let raced = 0;
  for (const isReplay of [false, true]) {
    for (let number = 1; number <= 4; number++) {
      using sample = await openSampleStore(30);
      const { runtime, store: inner } = sample;
      const { head } = await readHead(inner);
      const all = sampleLog(LENGTH, runtime.now() - 30_000);
      let reads = 0;
      const meanwhile = async <T>(apply: () => Promise<T>) => {
        if (++reads !== number) return await apply();
        if (isReplay) await replay({ store: inner, runtime }, { graceMs: 0 });
        await writeLog(inner, runtime, all.slice(30));
        return await apply();
      };
      const store = faultyStore(inner, { onGet: meanwhile, onList: meanwhile });
      const reader = readerOf(store);
      const column = await reader.asOf(head);
      assert(column.position >= 30);
      if (reads < number) continue;
      raced++;
      const newest = await reader.asOf((await readHead(inner)).head);
      assertEquals(newest.position, LENGTH, `read ${number}`);
      const whole = readerOf(inner);
      const expected = await whole.asOf((await readHead(inner)).head);
      assertEquals(textsOf(newest), textsOf(expected));
    }
  }
  assert(raced >= 6, `${raced} reads`);
});

/** Damages to the blocks of a store of 60 events, and what the reader says of each. */
const DAMAGES: Record<string, { message: RegExp; damage: (store: Store) => Promise<unknown> }> = {
  "a block is missing": {
    message: /^The record of block 2 of pets is missing, or an earlier one$/,
    damage: (store) => putRecord(store, blockKey(2)),
  },
  "all blocks are missing": {
    message: /^The record of block 1 of pets is missing, or an earlier one$/,
    damage: async (store) => {
      for (let block = 1; block <= 15; block++) await putRecord(store, blockKey(block));
    },
  },
  "a block has another content": {
    message: /^The record of block 2 of pets is not a block$/,
    damage: (store) => putRecord(store, blockKey(2), "{}\n"),
  },
  "a block is of another log": {
    message: /^The record of block 2 of pets is of another log$/,
    damage: (store) => putRecord(store, blockKey(2), '{"position":999,"texts":[]}\n'),
  },
  "a block has a wrong checksum": {
    message: /^The record of block 2 of pets is damaged$/,
    damage: (store) =>
      store.commit({
        checks: [],
        mutations: [{ type: "set", key: blockKey(2), value: new Uint8Array(9) }],
      }),
  },
};

for (const [name, { message, damage }] of Object.entries(DAMAGES)) {
  Deno.test(`asOf() refuses the column if ${name}, without reading it again for each request, until a replay`, async () => {
    using sample = await openSampleStore(LENGTH);
    const { lines, runtime } = sample;
    const store = faultyStore(sample.store);
    await damage(store);
    const reports: unknown[] = [];
    const reader = readerOf(store, (_, event, details) => reports.push([event, details]));
    const { head } = await readHead(store);
    const refused = async () => {
      const error = await assertRejects(() => reader.asOf(head), ServiceError);
      assertEquals(
        [error.code, message.test(error.message)],
        ["projection_damaged", true],
        error.message,
      );
    };
    await refused();
    const reads = store.lists.length;
    await refused();
    assertEquals([store.lists.length, await reader.forCommit(head)], [reads, undefined]);
    assertEquals(reports.length, 1);
    assertMatch(
      JSON.stringify(reports),
      /^\[\["column_damaged",{"collection":"pets","reason":"The record of block/,
    );
    await replay({ store, runtime }, { graceMs: 0 });
    const repaired = await reader.asOf((await readHead(store)).head);
    assertEquals(textsOf(repaired), textsAfter(lines, LENGTH));
  });
}

Deno.test("asOf() reads a generation that a replay has repaired, although it waits for a read of the damaged one", async () => {
  using sample = await openSampleStore(LENGTH);
  const { lines, runtime, store: inner } = sample;
  await putRecord(inner, blockKey(2), "{}\n");
  const { head: damaged } = await readHead(inner);
  const gate = Promise.withResolvers<void>();
  const store = faultyStore(inner, {
    async onList(apply) {
      const entries = await apply();
      await gate.promise;
      return entries;
    },
  });
  const reader = readerOf(store);
  const refused = assertRejects(() => reader.asOf(damaged), ServiceError, "is not a block");
  await replay({ store: inner, runtime }, { graceMs: 0 });
  const repaired = reader.asOf((await readHead(inner)).head);
  gate.resolve();
  await refused;
  assertEquals(textsOf(await repaired), textsAfter(lines, LENGTH));
});

Deno.test("an audit finds an earlier copy of a block", async () => {
  using sample = await openSampleStore(0);
  const { runtime, store } = sample;
  const lines = sampleLog(LENGTH, runtime.now());
  const key = blockKey(1);
  await writeLog(store, runtime, lines.slice(0, 20));
  const earlier = await store.get(key);
  await writeLog(store, runtime, lines.slice(20));
  const later = await store.get(key);
  assertNotEquals(later!.versionstamp, earlier!.versionstamp);
  const value = earlier!.value as Uint8Array;
  await store.commit({ checks: [], mutations: [{ type: "set", key, value }] });
  assertEquals((await audit(sample)).counts, { record_altered: 1 });
});

Deno.test("pets are added although a block is damaged, and then no instance shows a category until a replay", async () => {
  await using service = await openTestService();
  const { store } = service;
  const pet = { name: "Rex", categoryId: 7 };
  for (let number = 1; number <= 15; number++) await service.add(pet);
  assertEquals((await service.send("/v1/pets?categoryId=7")).status, 200);
  await putRecord(store, blockKey(1), "{}\n");
  const other = otherInstance(service);
  assertEquals((await other.add(pet)).status, 201);
  assertEquals((await readHead(store)).head.lacksColumns, true);
  for (const client of [service, other, otherInstance(service)]) {
    const response = await client.send("/v1/pets?categoryId=7");
    assertEquals([response.status, (await response.json()).code], [500, "projection_damaged"]);
    assertEquals((await client.send("/v1/pets")).status, 200);
  }
  assertEquals((await service.add(pet)).status, 201);
  const { faults } = await audit(service);
  assertEquals(faults[0].message, "The head says that records of blocks were not written");
  await replay(service, { graceMs: 0 });
  assertEquals((await readHead(store)).head.lacksColumns, undefined);
  for (const client of [service, other]) {
    assertEquals((await client.listIds("?categoryId=7&limit=100")).length, 17);
  }
  assertEquals((await other.add(pet)).status, 201);
  assertEquals((await audit(service)).faults, []);
});
