import { assert, assertEquals, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import {
  type Collection,
  type CommandSnapshot,
  dataOf,
  defineApplication,
  type EventCommand,
  EventStore,
  InvalidEventError,
  openEventStore,
  OPERATOR,
  type Outcome,
  recordOf,
  ServiceError,
  type StoreOf,
} from "eventstore-less";
import { sha256Hex } from "eventstore-less/parts";
import type { Store } from "eventstore-less/store";
import { FakeRuntime } from "eventstore-less/testing";
import { audit } from "eventstore-less/tools";
import { hmacSha256Hex } from "../../src/eventstore_less/encoding/sha256.ts";
import { z } from "zod";
import { projectionKey } from "../../src/eventstore_less/keyspace.ts";
import { withChecksum } from "../../src/eventstore_less/store/checksum.ts";
import { StoreAwayError } from "../../src/eventstore_less/store/store_errors.ts";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { type FaultyStore, faultyStore, hold } from "../support/faulty_store.ts";

const Booking = z.strictObject({ id: z.string(), day: z.string(), guest: z.string() });
type Booking = z.infer<typeof Booking>;

type BookingBody =
  | { type: "BookingMade"; data: Booking }
  | { type: "BookingChanged"; data: Booking & { before: string } }
  | { type: "BookingCancelled"; data: Booking };

/** The guest whose events no projection accepts. */
const UNPROJECTABLE = "Nobody";

const BOOKINGS: Collection<BookingBody> = {
  name: "bookings",
  isId: (text) => /^[A-Z0-9]{1,8}$/.test(text),
  exampleId: "A1",
  events: {
    BookingMade: {
      data: Booking,
      id: ({ id }) => id,
      isFirst: true,
      release: "1.0",
      project(recorded) {
        const { id, day, guest } = recorded.event.data;
        if (guest === UNPROJECTABLE) throw new Error("Nobody cannot book");
        return [
          { key: ["booking", id], content: recordOf(recorded) },
          { key: ["on_day", day, id], content: dataOf(recorded.line) },
        ];
      },
      tally: () => [["made", 1]],
    },
    BookingChanged: {
      data: Booking.extend({ before: z.string() }),
      id: ({ id }) => id,
      isFirst: false,
      release: "1.0",
      project(recorded) {
        const { id, day, before } = recorded.event.data;
        return [
          { key: ["on_day", before, id] },
          { key: ["booking", id], content: recordOf(recorded) },
          { key: ["on_day", day, id], content: dataOf(recorded.line) },
        ];
      },
    },
    BookingCancelled: {
      data: Booking,
      id: ({ id }) => id,
      isFirst: false,
      release: "1.0",
      project(recorded) {
        const { id, day } = recorded.event.data;
        return [{ key: ["on_day", day, id] }, {
          key: ["booking", id],
          content: recordOf(recorded),
        }];
      },
    },
  },
  kinds: {
    booking: { key: ["text"], owner: ([, id]) => `booking ${id}` },
    on_day: { key: ["text", "text"], owner: ([, , id]) => `booking ${id}` },
  },
};

const BOOKING_APPLICATION = defineApplication({ name: "Bookings", collections: [BOOKINGS] });

type Bookings = StoreOf<typeof BOOKING_APPLICATION>;

interface Opened {
  store: Bookings;
  runtime: FakeRuntime;
  faults: FaultyStore;
  [Symbol.asyncDispose](): Promise<void>;
}

/** A store in memory, whose time passes only on request. */
async function open(): Promise<Opened> {
  const runtime = new FakeRuntime();
  const faults = faultyStore(runtime.awaited(await SqliteStore.open(":memory:")));
  const store = new EventStore(BOOKING_APPLICATION, faults, { runtime });
  const dispose = () => runtime.settle(store.close());
  return { store, runtime, faults, [Symbol.asyncDispose]: dispose };
}

type BookingCommand<Prepared = undefined> = EventCommand<Prepared, BookingBody>;

function booking(id: string, rest: Partial<Booking> = {}): Booking {
  return { id, day: "2026-12-01", guest: "Ann", ...rest };
}

function making(id: string, rest: Partial<Booking> = {}): BookingCommand {
  return { decide: () => [{ type: "BookingMade", data: booking(id, rest) }] };
}

/** Moves a booking to another day, as of its last event. */
function moving(id: string, day: string): BookingCommand {
  return {
    subject: `bookings/${id}`,
    decide(_head, { last }) {
      if (last === undefined) throw new ServiceError("booking_not_found", "There is no booking");
      const { guest, day: before } = last.data;
      return [{ type: "BookingChanged", data: { id, day, guest, before } }];
    },
  };
}

function predecessorsOf({ events }: Outcome<unknown, BookingBody>) {
  return events.map(({ predecessor }) => predecessor);
}

async function assertSound(opened: Opened, position: number): Promise<void> {
  const report = await opened.runtime.settle(audit(opened.store));
  const repeated = report.notes.filter(({ kind }) => kind === "idempotency_key_repeated");
  assertEquals([report.faults, repeated], [[], []]);
  assertEquals([report.sound, report.position], [true, position]);
}

Deno.test("append() fills in ids, the time, the actor and the predecessor of events", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  const made = await store.append(making("A1"));
  await runtime.advance(5);
  const moved = await store.append({ ...moving("A1", "2026-12-02"), actor: "ann" });
  const [first] = made.events;
  const [second] = moved.events;
  assertEquals([first.position, first.predecessor, first.actor], [1, undefined, OPERATOR]);
  assertEquals([second.position, second.predecessor, second.actor], [2, 1, "ann"]);
  assertEquals(first.time, "2026-01-01T00:00:00.000Z");
  assertEquals(second.time, "2026-01-01T00:00:00.005Z");
  assertEquals(new Set([first.id, second.id]).size, 2);
  assertEquals([made.isDuplicate, made.prepared], [false, undefined]);
  await assertSound(opened, 2);
});

Deno.test("append() gives decide() the head, the time, the actor, what was prepared, and the last event", async () => {
  await using opened = await open();
  const { store } = opened;
  const { events: [made] } = await store.append(making("A1"));
  const seen: unknown[] = [];
  const { events, prepared } = await store.append<string>({
    subject: "bookings/A1",
    actor: () => "ann",
    prepare: ({ head, time }) => `${head.position} ${time}`,
    decide(head, context) {
      seen.push([head.position, context]);
      return [];
    },
  });
  const time = "2026-01-01T00:00:00.000Z";
  const context = { last: made, prepared: `1 ${time}`, time, actor: "ann" };
  assertEquals([events, prepared, seen], [[], `1 ${time}`, [[1, context]]]);
});

Deno.test("append() decides several commands of one subject after each other, and keeps the ids when one decides again", async () => {
  await using opened = await open();
  const { store, runtime, faults } = opened;
  await store.append(making("A1"));
  const ids = new Set<unknown>();
  const { fault, reached, release } = hold();
  // Another instance commits meanwhile, so all of them decide again.
  faults.nextCommits.push(fault);
  const command = moving("A1", "2026-12-02");
  let decisions = 0;
  const moves = Array.from({ length: 3 }, (_, index) =>
    store.append({
      ...command,
      decide(head, context) {
        decisions++;
        return index === 0 ? command.decide(head, context) : moving("A1", `2026-12-1${index}`)
          .decide(head, context);
      },
    }));
  await reached;
  const other = new EventStore(BOOKING_APPLICATION, faults.inner, { runtime });
  await other.append(moving("A1", "2026-12-09"));
  const before = decisions;
  release();
  const outcomes = await runtime.settle(Promise.all(moves));
  assert(decisions > before, "They have decided again");
  for (const { events } of outcomes) ids.add(events[0].id);
  assertEquals(outcomes.flatMap(predecessorsOf), [2, 3, 4]);
  assertEquals(ids.size, 3);
  await assertSound(opened, 5);
});

Deno.test("append() draws each id once, although decide() runs again", async () => {
  await using opened = await open();
  const { store, runtime, faults } = opened;
  const { fault, reached, release } = hold();
  faults.nextCommits.push(fault);
  let drawn = 0;
  const { newId } = runtime;
  let decisions = 0;
  runtime.newId = () => {
    drawn++;
    return newId();
  };
  const appended = store.append({
    decide() {
      decisions++;
      return ["A1", "A2"].map((id) => ({ type: "BookingMade", data: booking(id) }));
    },
  });
  await reached;
  runtime.newId = newId;
  const other = new EventStore(BOOKING_APPLICATION, faults.inner, { runtime });
  await other.append(making("B1"));
  release();
  const { events } = await runtime.settle(appended);
  assertEquals([decisions, drawn, new Set(events.map(({ id }) => id)).size], [2, 2, 2]);
  await assertSound(opened, 3);
});

Deno.test("append() links several events of one command and one subject", async () => {
  await using opened = await open();
  const data = booking("A1");
  const outcome = await opened.store.append({
    subject: "bookings/A1",
    decide: () => [
      { type: "BookingMade", data },
      { type: "BookingChanged", data: { ...data, day: "2026-12-02", before: data.day } },
      { type: "BookingMade", data: booking("A2") },
      { type: "BookingCancelled", data: booking("A2") },
    ],
  });
  assertEquals(predecessorsOf(outcome), [undefined, 1, undefined, 3]);
  await assertSound(opened, 4);
});

/** Commands that would make an unsound log, beside a sound one in the same commit. Booking A1 exists. */
const REFUSED: Record<string, [command: BookingCommand, message: string]> = {
  "a type that is not defined": [
    { decide: () => [{ type: "BookingLost", data: booking("A9") } as unknown as BookingBody] },
    "BookingLost",
  ],
  "an id of an event that the line does not hold": [
    { decide: () => [{ type: "BookingMade", data: booking("A9"), id: 'x"' }] },
    "ULID",
  ],
  "data that its schema refuses": [
    making("A9", { guest: 1n as unknown as string }),
    "guest",
  ],
  "a line that is too long": [making("A9", { guest: "x".repeat(70_000) }), "65"],
  "a projection that throws": [making("A9", { guest: UNPROJECTABLE }), "Nobody cannot book"],
  "a change of a subject that the command does not name": [
    {
      decide: () => [{
        type: "BookingChanged",
        data: { ...booking("A1"), before: "2026-12-01" },
      }],
    },
    "bookings/A1",
  ],
  "a second first event of a subject": [
    { ...making("A1"), subject: "bookings/A1" },
    "position 1",
  ],
  "a first event of a subject that a command of the same commit begins": [
    making("B1"),
    "bookings/B1",
  ],
  "a predecessor that is not the last event": [
    {
      subject: "bookings/A1",
      decide: () => [{ type: "BookingCancelled", data: booking("A1"), predecessor: 7 }],
    },
    "7",
  ],
};

for (const [what, [command, message]] of Object.entries(REFUSED)) {
  Deno.test(`append() refuses ${what}, alone, and stores nothing of it`, async () => {
    await using opened = await open();
    const { store, runtime, faults } = opened;
    await store.append(making("A1"));
    faults.commits.length = 0;
    const outcomes = await runtime.settle(Promise.allSettled([
      store.append(making("B1")),
      store.append(command),
      store.append(making("B2")),
    ]));
    assertEquals(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
    const { reason } = outcomes[1] as PromiseRejectedResult;
    assert(reason instanceof Error && reason.message.includes(message), String(reason));
    if (what !== "a projection that throws") assert(reason instanceof InvalidEventError);
    assertEquals(faults.commits.length, 1, "One commit");
    await assertSound(opened, 3);
  });
}

Deno.test("append() finds no last event of a subject whose id cannot be one, and stores no event of it", async () => {
  await using opened = await open();
  const { store } = opened;
  await assertRejects(() => store.append(moving("a b", "2026-12-02")), ServiceError, "no booking");
  await assertRejects(() => store.append(making("a b")), InvalidEventError, "id");
  await assertSound(opened, 0);
});

for (const subject of ["rooms/1", "bookings", ""]) {
  Deno.test(`append() refuses the subject ${subject}, which the application does not have`, async () => {
    await using opened = await open();
    const command: BookingCommand = { subject, decide: () => [] };
    await assertRejects(() => opened.store.append(command), TypeError, subject);
  });
}

Deno.test("append() takes the predecessor from a command that has read its subject by itself", async () => {
  await using opened = await open();
  const { store } = opened;
  await store.append(making("A1"));
  const outcome = await store.append({
    decide: () => [{ type: "BookingCancelled", data: booking("A1"), predecessor: 1 }],
  });
  assertEquals(predecessorsOf(outcome), [1]);
  await assertSound(opened, 2);
});

Deno.test("append() rejects with projection_damaged if the record of the subject does not follow from its event", async () => {
  await using opened = await open();
  const { store, runtime, faults } = opened;
  await store.append(making("A1"));
  const { head } = await store.heads.read();
  const key = projectionKey(head.generation, ["booking", "A1"]);
  const text = `1${JSON.stringify(booking("A1", { guest: "Eve" }))}`;
  await overwrite(faults.inner, key, new TextEncoder().encode(text));
  const moved = store.append(moving("A1", "2026-12-02")).catch((error) => error);
  const error = await runtime.settle(moved);
  assert(error instanceof ServiceError && error.code === "projection_damaged", String(error));
  assertEquals((await store.heads.read()).head.position, 1);
});

Deno.test("append() says that a record must name its event before a command can decide on it", async () => {
  const notes: Collection<{ type: "NoteTaken"; data: { id: string } }> = {
    name: "notes",
    isId: () => true,
    exampleId: "1",
    events: {
      NoteTaken: {
        data: z.strictObject({ id: z.string() }),
        id: ({ id }) => id,
        isFirst: false,
        release: "1.0",
        project: ({ event, line }) => [{ key: ["note", event.data.id], content: dataOf(line) }],
      },
    },
    kinds: { note: { key: ["text"], owner: ([, id]) => `note ${id}` } },
  };
  const application = defineApplication({ name: "Notes", collections: [notes] });
  await using store = await openEventStore(application, ":memory:");
  const taking = {
    subject: "notes/1",
    decide: () => [{ type: "NoteTaken", data: { id: "1" } } as const],
  };
  await store.append(taking);
  await assertRejects(() => store.append(taking), TypeError, "recordOf(recorded)");
  assertEquals((await store.heads.read()).head.position, 1);
});

async function overwrite(store: Store, key: readonly (string | number)[], content: Uint8Array) {
  const entry = await store.get(key);
  const guard = { key, versionstamp: entry!.versionstamp };
  const value = withChecksum(key, content);
  await store.commit({ guard, mutations: [{ type: "set", key, value }] });
}

Deno.test("append() refuses the first event of a subject that exists, alone, though the command does not name it", async () => {
  await using opened = await open();
  const { store, runtime, faults } = opened;
  const second = new EventStore(BOOKING_APPLICATION, faults.inner, { runtime });
  await runtime.settle(store.append(making("A1")));
  await runtime.settle(second.append(making("B1")));
  const outcomes = await runtime.settle(Promise.allSettled([
    store.append(making("C1")),
    // Another instance has made it.
    store.append(making("B1")),
    store.append(making("A1", { guest: "Bob" })),
    store.append(making("D1")),
    second.append(making("C1", { guest: "Cem" })),
  ]));
  const refusals = outcomes.filter((outcome) => outcome.status === "rejected");
  assertEquals(refusals.map(({ reason }) => [reason.code, reason.message]).sort(), [
    ...["A1", "B1", "C1"].map((id) => [
      "invalid_event",
      `BookingMade must be the first event of its subject, but bookings/${id} has events already: ` +
      "the command must name the subject and look at its last event",
    ]),
  ]);
  await assertSound(opened, 4);
  await runtime.settle(second.appender.drain());
});

Deno.test("append() of a repeated command that makes a subject is no refusal, on two instances at once", async () => {
  await using opened = await open();
  const { store, runtime, faults } = opened;
  const second = new EventStore(BOOKING_APPLICATION, faults.inner, { runtime });
  const command = { ...making("A1"), idempotency: { key: "once" } };
  const outcomes = await runtime.settle(Promise.all(
    [store, second, store, second].map((it) => it.append(command)),
  ));
  assertEquals(outcomes.filter(({ isDuplicate }) => isDuplicate).length, 3);
  await assertSound(opened, 1);
  await runtime.settle(second.appender.drain());
});

Deno.test("append() is tried again if the store fails while it looks whether a subject exists", async () => {
  await using opened = await open();
  const { store, runtime, faults } = opened;
  let failures = 0;
  faults.onGet = (apply, [, , kind]) => {
    if (kind !== "booking" || failures === 2) return apply();
    failures++;
    return Promise.reject(new StoreAwayError("gone"));
  };
  const { events } = await runtime.settle(store.append(making("A1")));
  assertEquals([events.length, failures], [1, 2]);
});

Deno.test("append() refuses a command that does not fit into a commit, alone, and takes one of 400 events", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  const makingMany = (count: number, first: string): BookingCommand => ({
    decide: () =>
      Array.from({ length: count }, (_, index) => {
        return { type: "BookingMade" as const, data: booking(`${first}${index}`) };
      }),
  });
  const outcomes = await runtime.settle(Promise.allSettled([
    store.append(makingMany(400, "A")),
    store.append(makingMany(600, "B")),
    store.append(making("C1")),
  ]));
  assertEquals(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  const { reason } = outcomes[1] as PromiseRejectedResult;
  assertEquals(
    reason.message,
    "The command has 600 events, which write or remove 1200 records, but a commit takes about " +
      "1000 records and 819200 bytes: make several commands of it",
  );
  await assertSound(opened, 401);
});

Deno.test("append() gives a repeated command the events of the first one for 24 hours, for each actor", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  let number = 0;
  const command = (actor: string): BookingCommand => ({
    actor,
    idempotency: { key: "order 7" },
    decide() {
      number++;
      return [
        { type: "BookingMade", data: booking(`A${number}`) },
        { type: "BookingMade", data: booking(`B${number}`) },
      ];
    },
  });
  const first = await store.append(command("ann"));
  const repeated = await store.append(command("ann"));
  assertEquals(repeated, { events: first.events, isDuplicate: true });
  assertEquals(first.events.map(({ idempotencyKey }) => idempotencyKey), [
    sha256Hex("order 7"),
    sha256Hex("order 7"),
  ]);
  assertEquals((await store.append(command("bob"))).isDuplicate, false);
  await runtime.advance(24 * 60 * 60 * 1_000);
  const later = await store.append(command("ann"));
  assertEquals([later.isDuplicate, later.events.length], [false, 2]);
  // The records of the first use are still there.
  assertEquals((await store.append(command("ann"))).events, later.events);
  await assertSound(opened, 6);
});

Deno.test("append() stores one of several commands with one Idempotency-Key that arrive together", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  const command = { ...making("A1"), idempotency: { key: "order 7", secret: "s" } };
  const appended = Array.from({ length: 3 }, () => store.append(command));
  const outcomes = await runtime.settle(Promise.all(appended));
  assertEquals(outcomes.map(({ isDuplicate }) => isDuplicate).sort(), [false, true, true]);
  assertEquals(new Set(outcomes.map(({ events: [{ id }] }) => id)).size, 1);
  assertEquals(outcomes[0].events[0].idempotencyKey, hmacSha256Hex("s", "order 7"));
  await assertSound(opened, 1);
});

Deno.test("append() gives a repeated command its events although what it prepares now is refused", async () => {
  await using opened = await open();
  const { store } = opened;
  let isRefused = false;
  const command: BookingCommand = {
    ...making("A1"),
    idempotency: { key: "order 7" },
    prepare() {
      if (isRefused) throw new ServiceError("house_full", "The house is full");
    },
  };
  const { events } = await store.append(command);
  isRefused = true;
  assertEquals((await store.append(command)).events, events);
  const other = { ...command, idempotency: { key: "order 8" } };
  await assertRejects(() => store.append(other), ServiceError, "The house is full");
});

Deno.test("append() rejects with the error of the function that finds the actor", async () => {
  await using opened = await open();
  const actor = () => Promise.reject(new ServiceError("forbidden", "You may not book"));
  const command = { ...making("A1"), actor };
  await assertRejects(() => opened.store.append(command), ServiceError, "You may not book");
  await assertSound(opened, 0);
});

/** What a command prepares, and whether it prepares again after the commits of these others. */
const PREPARATIONS: Record<
  string,
  [
    prepare: (snapshot: CommandSnapshot) => unknown,
    other: BookingCommand,
    isAgain: boolean,
  ]
> = {
  "a record that the commit writes": [
    ({ read }) => read(["booking", "A2"]),
    making("A2"),
    true,
  ],
  "a record that the commit does not write": [
    ({ read }) => read(["booking", "A3"]),
    making("A2"),
    false,
  ],
  "a list to which the commit adds": [
    ({ list }) => list("on_day", { prefix: ["2026-12-01"] }),
    making("A2"),
    true,
  ],
  "a list from which the commit removes": [
    ({ list }) => list("on_day", { prefix: ["2026-12-01"] }),
    moving("A1", "2026-12-02"),
    true,
  ],
  "a list that the commit leaves as it is": [
    ({ list }) => list("on_day", { prefix: ["2026-12-03"] }),
    making("A2"),
    false,
  ],
  "nothing": [() => {}, making("A2"), false],
};

for (const [what, [prepare, other, isAgain]] of Object.entries(PREPARATIONS)) {
  const times = isAgain ? "again" : "once";
  Deno.test(`append() prepares ${times} if it has read ${what}, in the same commit or in one before`, async () => {
    for (const isSlow of [false, true]) {
      await using opened = await open();
      const { store, runtime } = opened;
      await store.append(making("A1"));
      const { promise, resolve } = Promise.withResolvers<void>();
      let count = 0;
      const command: BookingCommand<unknown> = {
        async prepare(snapshot) {
          count++;
          await prepare(snapshot);
          if (isSlow) await promise;
        },
        decide: () => [{ type: "BookingMade", data: booking("Z1") }],
      };
      // A quick one shares the commit of the other command; a slow one ends after it.
      const appended = [isSlow ? command : other, isSlow ? other : command]
        .map((it) => store.append(it as BookingCommand));
      await runtime.advance(200);
      resolve();
      await runtime.settle(Promise.all(appended));
      assertEquals(count, isAgain ? 2 : 1, `isSlow: ${isSlow}`);
      await assertSound(opened, 3);
    }
  });
}

Deno.test("append() prepares again if a slow preparation reads after a commit of this instance", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: unknown[] = [];
  let count = 0;
  const appended = store.append<unknown>({
    async prepare({ head, read }) {
      count++;
      const before = await read(["booking", "A1"]);
      if (count === 1) await promise;
      seen.push([head.position, before, await read(["booking", "A2"])]);
    },
    decide: () => [{ type: "BookingMade", data: booking("A3") }],
  });
  await runtime.advance(100);
  await runtime.settle(store.append(making("A2")));
  resolve();
  await runtime.settle(appended);
  // What the first preparation has read is of two moments, so nothing is decided on it.
  assertEquals([count, seen.at(-1)], [2, [1, undefined, booking("A2")]]);
  await assertSound(opened, 2);
});

Deno.test("append() lets one of many commands win that book the last place, by a list that they read", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  const appended = Array.from({ length: 10 }, (_, index) =>
    store.append<number>({
      prepare: async ({ list }) => (await list("on_day", { prefix: ["2026-12-01"] })).keys.length,
      decide(_head, { prepared }) {
        if (prepared > 0) throw new ServiceError("house_full", "The house is full");
        return [{ type: "BookingMade", data: booking(`A${index}`) }];
      },
    }));
  const outcomes = await runtime.settle(Promise.allSettled(appended));
  assertEquals(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
  await assertSound(opened, 1);
});

Deno.test("read() gives the content of a record as of a head, and undefined without a record", async () => {
  await using opened = await open();
  const { store } = opened;
  await store.append(making("A1"));
  const { head, value } = await store.read(["booking", "A1"]);
  assertEquals([head.position, value], [1, booking("A1")]);
  assertEquals((await store.read(["booking", "A2"])).value, undefined);
});

Deno.test("read() keeps integers that a number cannot hold", async () => {
  await using opened = await open();
  const { store, faults } = opened;
  await store.append(making("A1"));
  const key = projectionKey(1, ["booking", "A1"]);
  const text = '{"large":9007199254740993,"small":7,"text":"1234567890123456789"}';
  await overwrite(faults.inner, key, new TextEncoder().encode(text));
  const { value } = await store.read(["booking", "A1"]);
  assertEquals(value, { large: 9007199254740993n, small: 7, text: "1234567890123456789" });
});

for (
  const key of [["room", "A1"], ["booking"], ["booking", 1], ["booking", "A1", "B"], []]
) {
  Deno.test(`read() refuses ${JSON.stringify(key)}, which is no key of the application`, async () => {
    await using opened = await open();
    await assertRejects(() => opened.store.read(key), RangeError);
  });
}

async function openWithDays(): Promise<Opened> {
  const opened = await open();
  const days = ["2026-12-01", "2026-12-02", "2026-12-02", "2026-12-02", "2026-12-03"];
  for (const [index, day] of days.entries()) {
    await opened.store.append(making(`A${index + 1}`, { day }));
  }
  return opened;
}

const idsOf = ({ keys }: { keys: readonly (readonly unknown[])[] }) => keys.map((key) => key[2]);

Deno.test("list() gives the records of a kind in the order of their keys, page by page, in both directions", async () => {
  await using opened = await openWithDays();
  const { store } = opened;
  const all = await store.list("on_day");
  assertEquals(idsOf(all), ["A1", "A2", "A3", "A4", "A5"]);
  assertEquals(all.values[0], booking("A1", { day: "2026-12-01" }));
  assertEquals([all.head.position, all.next], [5, undefined]);
  for (const reverse of [false, true]) {
    const ids = reverse ? idsOf(all).reverse() : idsOf(all);
    const first = await store.list("on_day", { limit: 2, reverse });
    const second = await store.list("on_day", { limit: 2, reverse, after: first.next });
    const third = await store.list("on_day", { limit: 2, reverse, after: second.next });
    assertEquals([first, second, third].flatMap(idsOf), ids);
    assertEquals([second.next === undefined, third.next], [false, undefined]);
  }
});

Deno.test("list() gives the records whose keys begin with a prefix, and the last page has no next one", async () => {
  await using opened = await openWithDays();
  const { store } = opened;
  for (const reverse of [false, true]) {
    const prefix = ["2026-12-02"];
    const ids = reverse ? ["A4", "A3", "A2"] : ["A2", "A3", "A4"];
    const page = await store.list("on_day", { prefix, reverse, limit: 2 });
    const rest = await store.list("on_day", { prefix, reverse, limit: 1, after: page.next });
    assertEquals([...idsOf(page), ...idsOf(rest)], ids);
    assertEquals(rest.next, undefined);
    assertEquals(idsOf(await store.list("on_day", { prefix, reverse })), ids);
  }
  assertEquals((await store.list("on_day", { prefix: ["2026"] })).keys, []);
});

Deno.test("list() refuses a kind, a prefix, a key and a limit that cannot be", async () => {
  await using opened = await open();
  const { store } = opened;
  const refused: [kind: string, options: Parameters<Bookings["list"]>[1]][] = [
    ["room", {}],
    ["event_by_idempotency_key", {}],
    ["on_day", { prefix: [1] }],
    ["on_day", { prefix: ["2026-12-01", "A1"] }],
    ["on_day", { after: ["booking", "A1"] }],
    ["on_day", { after: ["on_day", "2026-12-01"] }],
    ["on_day", { prefix: ["2026-12-02"], after: ["on_day", "2026-12-01", "A1"] }],
    ...[0, 251, 1.5, NaN].map((limit): [string, { limit: number }] => ["on_day", { limit }]),
  ];
  for (const [kind, options] of refused) {
    await assertRejects(() => store.list(kind, options), RangeError);
  }
  await store.list("on_day", { limit: 250 });
});

Deno.test("follow() gives the events after a position and those to come, of some types, until the signal aborts", async () => {
  await using opened = await openWithDays();
  const { store, runtime } = opened;
  const { signal, abort } = abortable();
  const seen: [number, string][] = [];
  const following = (async () => {
    for await (
      const { event, line } of store.follow({ after: 4, types: ["BookingChanged"], signal })
    ) {
      assertEquals(JSON.parse(new TextDecoder().decode(line)).id, event.id);
      seen.push([event.position, event.type]);
    }
  })();
  await runtime.advance(1_000);
  assertEquals(seen, []);
  await runtime.settle(store.append(moving("A1", "2026-12-09")));
  await runtime.advance(0);
  assertEquals(seen, [[6, "BookingChanged"]]);
  const other = new EventStore(BOOKING_APPLICATION, opened.faults.inner, { runtime });
  await runtime.settle(other.append(making("A9")));
  await runtime.settle(other.append(moving("A9", "2026-12-09")));
  await runtime.advance(250);
  assertEquals(seen.at(-1), [8, "BookingChanged"]);
  abort();
  await following;
});

function abortable() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort() };
}

Deno.test("follow() loses no event and gives none twice while others are appended", async () => {
  await using opened = await open();
  const { store, runtime } = opened;
  const positions: number[] = [];
  const following = (async () => {
    for await (const { event } of store.follow()) {
      positions.push(event.position);
      if (event.position === 50) return;
    }
  })();
  for (let index = 0; index < 50; index++) {
    void store.append(making(`A${index}`));
    if (index % 7 === 0) await runtime.advance(1);
  }
  await runtime.settle(following);
  assertEquals(positions, Array.from({ length: 50 }, (_, index) => index + 1));
});

Deno.test("follow() ends when the store is closed", async () => {
  const opened = await openWithDays();
  const { store, runtime } = opened;
  const following = Array.fromAsync(store.follow({ after: 5 }));
  await runtime.advance(10);
  await runtime.settle(store.close());
  assertEquals(await following, []);
});

Deno.test("follow() refuses a position and a type that cannot be, and rejects with feed_reset beyond the head", async () => {
  await using opened = await openWithDays();
  const { store, runtime } = opened;
  for (const after of [-1, 1.5, NaN, Infinity]) {
    assertThrows(() => store.follow({ after }), RangeError);
  }
  const types = ["BookingLost"] as unknown as ["BookingMade"];
  assertThrows(() => store.follow({ types }), RangeError, "BookingLost");
  const next = store.follow({ after: 6 }).next().catch((error) => error);
  const error = await runtime.settle(next);
  assert(error instanceof ServiceError && error.code === "feed_reset", String(error));
});

Deno.test("close() waits for the commands that were accepted, refuses others, and can be called twice", async () => {
  const opened = await open();
  const { store, runtime } = opened;
  const appended = store.append(making("A1"));
  const closed = store.close();
  assertStrictEquals(store.close(), closed);
  const refused = store.append(making("A2")).catch((error) => error);
  await runtime.settle(closed);
  assertEquals((await appended).events.length, 1);
  assertEquals((await refused).code, "shutting_down");
});

Deno.test("openEventStore() takes a store that is open, and removes expired records of Idempotency-Keys", async () => {
  const runtime = new FakeRuntime();
  const inner = runtime.awaited(await SqliteStore.open(":memory:"));
  const store = await runtime.settle(openEventStore(BOOKING_APPLICATION, inner, { runtime }));
  await runtime.settle(store.append({ ...making("A1"), idempotency: { key: "order 7" } }));
  const prefix = projectionKey(1, ["event_by_idempotency_key"]);
  assertEquals((await inner.list({ prefix }, { limit: 9 })).length, 1);
  await runtime.advance(26 * 60 * 60 * 1_000);
  // The time of the log moves with its events.
  await runtime.settle(store.append(making("A2")));
  await runtime.advance(3 * 60 * 60 * 1_000);
  assertEquals((await inner.list({ prefix }, { limit: 9 })).length, 0);
  await runtime.settle(store.close());
});

Deno.test("openEventStore() refuses a store of another application", async () => {
  const runtime = new FakeRuntime();
  const inner = runtime.awaited(await SqliteStore.open(":memory:"));
  const rooms = defineApplication({ name: "Rooms", collections: [] });
  const store = await runtime.settle(openEventStore(BOOKING_APPLICATION, inner, { runtime }));
  await runtime.settle(store.append(making("A1")));
  const opened = openEventStore(rooms, inner, { runtime }).catch((error) => error);
  assert(await runtime.settle(opened) instanceof Error);
  await runtime.settle(store.close());
});

Deno.test("Two applications and several stores work in one process", async () => {
  const Ticket = z.strictObject({ id: z.string(), title: z.string() });
  const tickets: Collection<{ type: "TicketOpened"; data: z.infer<typeof Ticket> }> = {
    name: "tickets",
    isId: () => true,
    exampleId: "1",
    events: {
      TicketOpened: {
        data: Ticket,
        id: ({ id }) => id,
        isFirst: true,
        release: "1.0",
        project: (recorded) => [{
          key: ["booking", recorded.event.data.id],
          content: recordOf(recorded),
        }],
      },
    },
    // A kind of the same name as one of the other application.
    kinds: { booking: { key: ["text"], owner: ([, id]) => `ticket ${id}` } },
  };
  const application = defineApplication({ name: "Tickets", collections: [tickets] });
  await using one = await openEventStore(BOOKING_APPLICATION, ":memory:");
  await using two = await openEventStore(BOOKING_APPLICATION, ":memory:");
  await using three = await openEventStore(application, ":memory:");
  await Promise.all([
    one.append(making("A1")),
    one.append(making("A2")),
    two.append(making("A1", { guest: "Bob" })),
    three.append({
      decide: () => [{ type: "TicketOpened", data: { id: "A1", title: "Leak" } }],
    }),
  ]);
  const values = await Promise.all([one, two, three].map(async (store) => {
    const { head, value } = await store.read(["booking", "A1"]);
    return [head.position, value];
  }));
  assertEquals(values, [
    [2, booking("A1")],
    [1, booking("A1", { guest: "Bob" })],
    [1, { id: "A1", title: "Leak" }],
  ]);
  const reports = [await audit(one), await audit(two), await audit(three)];
  assertEquals(reports.map(({ sound, position }) => [sound, position]), [
    [true, 2],
    [true, 1],
    [true, 1],
  ]);
});

for (const data of [undefined, null, "text", []]) {
  Deno.test(`append() refuses ${JSON.stringify(data)} as the data of an event`, async () => {
    await using opened = await open();
    const { store, runtime } = opened;
    const decide = () => [{ type: "BookingMade", data }] as never;
    await assertRejects(() => runtime.settle(store.append({ decide })), InvalidEventError);
  });
}
