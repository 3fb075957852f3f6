/** A column read from its blocks equals one of all events. It writes the same blocks, however the events are grouped. */

import type { ProjectionRecord, RecordedEvent } from "eventstore-less/definitions.ts";
import { Column } from "eventstore-less/projections/column.ts";
import { COLUMNS } from "eventstore-less/tables.ts";
import { assert, assertEquals } from "@std/assert";
import { PET_STATUSES } from "../../../events/pet.ts";
import { Random } from "../../sim/random.ts";
import { useSmallBlocks } from "../../support/small_blocks.ts";
import { utf8 } from "../../support/utf8.ts";

const STORED_AFTER = 8;

useSmallBlocks({ length: 4, storedAfter: STORED_AFTER });

const [PET_LOCATIONS] = COLUMNS;

/** Additions, changes that keep or move a pet, removals, and events of keys. */
function randomEvents(random: Random, count: number): RecordedEvent[] {
  let added = 0;
  return Array.from({ length: count }, (_, index) => {
    const position = index + 1;
    if (random.chance(0.1)) return { type: "ApiKeyIssued", data: {}, position } as RecordedEvent;
    const isNew = added === 0 || random.chance(0.5);
    if (isNew) added++;
    const id = isNew ? added : random.integer(1, added);
    const status = random.pick(PET_STATUSES);
    const data = { id, name: "Rex", categoryId: BigInt(random.integer(1, 2)), status };
    const type = isNew ? "PetCreated" : random.pick(["PetUpdated", "PetUpdated", "PetRemoved"]);
    return { type, data, position } as RecordedEvent;
  });
}

function addAll(column: Column, events: readonly RecordedEvent[]): ProjectionRecord[] {
  return events.map((event) => column.add(event)).filter((it) => it !== undefined);
}

function textsOf(column: Column): (string | undefined)[] {
  return Array.from({ length: 100 }, (_, index) => column.textOf(index + 1));
}

/** The last record of each block. */
function lastOfEach(records: ProjectionRecord[]): Map<unknown, ProjectionRecord> {
  return new Map(records.map((record) => [record.key.at(-1), record]));
}

for (let seed = 1; seed <= 30; seed++) {
  const events = randomEvents(new Random(seed), 120);

  Deno.test(`seed ${seed}: recordsAfter() returns the last record of each block that add() writes`, () => {
    const random = new Random(seed);
    const column = new Column(PET_LOCATIONS);
    for (let start = 0; start < events.length;) {
      const next = events.slice(start, start + random.integer(1, random.pick([3, 30])));
      assertEquals(column.recordsAfter(events.slice(start + 1)), [], "not the next ones");
      const announced = column.recordsAfter(next);
      const written = addAll(column, next);
      assertEquals(lastOfEach(announced), lastOfEach(written));
      assertEquals(announced.length, lastOfEach(announced).size, "each block once");
      start += next.length;
    }
  });

  Deno.test(`seed ${seed}: the blocks at any position and the last events give the column, and what it writes later`, () => {
    const whole = new Column(PET_LOCATIONS);
    const blocks = new Map<number, ProjectionRecord>();
    for (const event of events) {
      const { position } = event;
      const record = whole.add(event);
      if (record !== undefined) blocks.set(record.key.at(-1) as number, record);
      const read = new Column(PET_LOCATIONS, Math.max(0, position - STORED_AFTER));
      for (const [block, { content }] of blocks) {
        assert(read.addBlock(block, content!)! <= position);
      }
      const written = addAll(read, events.slice(read.position, position));
      assertEquals([written, textsOf(read)], [[], textsOf(whole)], `position ${position}`);
      const later = events.slice(position);
      assertEquals(addAll(read, later), addAll(whole.copy(), later), `after ${position}`);
    }
    // So the blocks were stored several times.
    assert(blocks.size >= 5, `${blocks.size} blocks`);
  });
}

Deno.test("find() returns the highest numbers with one of the texts, from a number down", () => {
  const column = new Column(PET_LOCATIONS);
  const categories = [1n, 2n, 1n, 3n, 1n, 2n];
  addAll(
    column,
    categories.map((categoryId, index) => ({
      type: "PetCreated",
      position: index + 1,
      data: { id: index + 1, name: "Rex", categoryId },
    } as RecordedEvent)),
  );
  const find = (texts: string[], newest: number, limit = 10) =>
    column.find(texts, { newest, limit });
  assertEquals(find(["1/none"], 6), [5, 3, 1]);
  assertEquals(find(["1/none", "2/none"], 5), [5, 3, 2, 1]);
  assertEquals(find(["1/none", "4/none"], 1_000, 2), [5, 3]);
  assertEquals([find(["4/none"], 6), find([], 6), find(["1/none"], 0)], [[], [], []]);
});

Deno.test("firstUnknown() finds the first subject up to a number that is in no block and no event", () => {
  const whole = new Column(PET_LOCATIONS);
  const records = addAll(whole, randomEvents(new Random(1), 120));
  const blocks = lastOfEach(records);
  const column = new Column(PET_LOCATIONS, 120);
  for (const [block, { content }] of blocks) {
    if (block !== 2) assert(column.addBlock(block as number, content!));
  }
  assertEquals([column.firstUnknown(4), column.firstUnknown(12)], [undefined, 5]);
  assertEquals(new Column(PET_LOCATIONS).firstUnknown(1_000), 1);
  assertEquals(new Column(PET_LOCATIONS).firstUnknown(0), undefined);
});

Deno.test("addBlock() refuses a content that no column has written", () => {
  const header = '{"position":9,"texts":["1/none"]}\n';
  const column = new Column(PET_LOCATIONS);
  const content = utf8(`${header}\0\x02`);
  assertEquals([1, 3].map((block) => column.addBlock(block, content)), [9, 9]);
  // In a log of 9 events, the last possible subject is 9, which is in block 3.
  for (const block of [0, 4, 1.5, NaN]) assertEquals(column.addBlock(block, content), undefined);
  const wrong = [
    "",
    "\n",
    header.trim(),
    `${header}\0`,
    `${header}\0\x03`,
    `${header}${"\0\x02".repeat(5)}`,
  ];
  wrong.push('{"position":0,"texts":[]}\n', '{"position":9,"texts":[1]}\n', "[]\n");
  for (const content of wrong) assertEquals(column.addBlock(1, utf8(content)), undefined, content);
});

Deno.test("add() forgets texts that no subject has any more, and keeps the others", () => {
  const column = new Column(PET_LOCATIONS);
  const added = addAll(
    column,
    Array.from({ length: 100_000 }, (_, index) => ({
      type: index < 3 ? "PetCreated" : "PetUpdated",
      position: index + 1,
      data: { id: 1 + index % 3, name: "Rex", categoryId: BigInt(index) },
    } as RecordedEvent)),
  );
  assert(column.textCount < 65_536, `${column.textCount} texts`);
  assertEquals(textsOf(column).slice(0, 4), ["99999/none", "99997/none", "99998/none", undefined]);
  assertEquals(column.find(["99999/none", "5/none"], { newest: 4, limit: 9 }), [1]);
  const last = new TextDecoder().decode(added.at(-1)!.content);
  assertEquals(JSON.parse(last.split("\n")[0]).texts.length, 3);
});
