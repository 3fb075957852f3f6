import { assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import {
  dataOf,
  defineApplication,
  defineCollection,
  encodeJson,
  type Head,
  InvalidEventError,
  openEventStore,
  type Recorded,
} from "eventstore-less";
import { safeInteger } from "eventstore-less/encoding";
import { audit, replay } from "eventstore-less/tools";
import { encodeEvent } from "../../../src/eventstore_less/log/event.ts";
import { LINE_LIMIT_BYTES } from "../../../src/eventstore_less/log/lines.ts";
import { z } from "zod";
import { expectStorable } from "../../../src/eventstore_less/append/storable_data.ts";
import { decodeEvent, GENESIS_HASH } from "../../../src/eventstore_less/log/event.ts";

const Thing = z.strictObject({
  id: z.string(),
  text: z.string().optional(),
  big: z.bigint().optional(),
  count: safeInteger().optional(),
  url: z.url().optional(),
  tags: z.array(z.string()).optional(),
  inner: z.strictObject({ a: z.string().optional(), b: z.string().optional() }).optional(),
  names: z.record(z.string(), z.string()).optional(),
});

const THINGS = defineCollection({
  name: "things",
  isId: (text) => text !== "none",
  events: {
    ThingMade: {
      data: Thing,
      tally: ({ text }) => [[text ?? "things", 1]],
      // The order of the members would show in the record.
      project: (
        { event: { data } },
      ) => [{ key: ["thing", data.id], content: encodeJson(ofTexts(data)) }],
    },
    ThingCounted: {
      data: z.strictObject({ id: safeInteger() }),
      id: ({ id }) => id,
      project: ({ line }) => [{ key: ["counted"], content: dataOf(line) }],
    },
  },
  kinds: { thing: { key: ["text"] }, counted: { key: [] } },
});

/** The members that are not `bigint`. */
function ofTexts(data: object) {
  return Object.entries(data).filter(([, value]) => typeof value !== "bigint");
}

const application = defineApplication({ name: "Things", collections: [THINGS] });

type Thing = z.output<typeof Thing>;

const METADATA = {
  id: "01HZZZZZZZ0000000000000001",
  time: "2026-01-31T12:00:00.000Z",
  actor: "operator",
  position: 7,
  previousHash: GENESIS_HASH,
};

const storable = (change: Record<string, unknown> = {}) => {
  const event = { ...METADATA, type: "ThingMade", data: { id: "1" }, ...change };
  return expectStorable(application, event as Recorded);
};

const circle: Record<string, unknown> = {};
circle.circle = circle;

class Point {
  id = "1";
}

/** Members of an event, and what the error must say. */
const INVALID: Record<string, [change: Record<string, unknown>, said: string]> = {
  "a type that is not defined": [
    { type: "ThingLost" },
    "Things defines no type ThingLost: it defines ThingMade, ThingCounted",
  ],
  "a type of every object": [{ type: "toString" }, "defines no type toString"],
  "an id that is no ULID": [{ id: "1" }, "its id is not a ULID"],
  "no actor": [{ actor: "" }, "its actor is not of 1 to 100 characters"],
  "a long actor": [{ actor: "🐈".repeat(101) }, "its actor"],
  "an actor with a line break": [{ actor: "a\nb" }, "its actor"],
  "an actor with a control character": [{ actor: "a\u009bb" }, "its actor"],
  "an actor with a lone surrogate": [{ actor: "\ud83d" }, "its actor"],
  "an actor that is a number": [{ actor: 7 }, "its actor"],
  "an idempotency key in plain text": [{ idempotencyKey: "key" }, "its idempotencyKey"],
  "a time without milliseconds": [{ time: "2026-01-31T12:00:00Z" }, "its time is not a UTC time"],
  "a day that does not exist": [{ time: "2026-02-30T12:00:00.000Z" }, "its time"],
  "a year of six digits": [{ time: "+012026-01-31T12:00:00.000Z" }, "its time"],
  "a predecessor that is later": [{ predecessor: 7 }, "its predecessor is not an earlier position"],
  "a predecessor of 0": [{ predecessor: 0 }, "its predecessor"],
  "no data": [{ data: undefined }, "its data is of the type undefined"],
  "data that is a list": [{ data: ["1"] }, "its data is refused by its schema"],
  "no id of a subject": [{ data: {} }, "its data is refused by its schema: data.id: "],
  "an id with a quotation mark": [{ data: { id: 'a"b' } }, "its subject's id is not of 1 to 100"],
  "an id with a brace": [{ data: { id: "a{b" } }, "its subject's id"],
  "an id of no characters": [{ data: { id: "" } }, "its subject's id"],
  "an id that isId() refuses": [
    { data: { id: "none" } },
    "its subject's id is none by isId() of things",
  ],
  "an id beyond the position": [
    { type: "ThingCounted", data: { id: 8 } },
    "its subject's id is not from 1 to its position",
  ],
  "an id of 0": [{ type: "ThingCounted", data: { id: 0 } }, "its subject's id"],
  "a lone surrogate": [ofData({ text: "a\udc08" }), "its data.text has a lone surrogate"],
  "a lone surrogate in a list": [ofData({ tags: ["a", "\udc08"] }), "its data.tags[1] has"],
  "a lone surrogate in a name": [ofData({ names: { "\udc08": "a" } }), "its data.names"],
  "a bigint beyond 64 bits": [ofData({ big: 2n ** 63n }), "its data.big is beyond 64 bits"],
  "-0": [ofData({ count: -0 }), "its data.count is not an integer that a line holds exactly"],
  "a fraction": [ofData({ count: 1.5 }), "its data.count"],
  "a number beyond the safe integers": [ofData({ count: 2 ** 53 }), "its data.count"],
  "NaN": [ofData({ count: NaN }), "its data.count"],
  "infinity": [ofData({ count: Infinity }), "its data.count"],
  "a number as bigint": [ofData({ count: 7n }), "its data would be changed by its schema"],
  "a bigint as number": [ofData({ big: 7 }), "its data would be changed by its schema"],
  "a text that its schema trims": [ofData({ url: " https://a.example " }), "would be changed"],
  "a Date": [ofData({ text: new Date() }), "its data.text is an object of Date"],
  "a Map": [ofData({ names: new Map() }), "its data.names is an object of Map"],
  "a Set": [ofData({ tags: new Set() }), "its data.tags is an object of Set"],
  "a typed array": [ofData({ tags: new Uint8Array() }), "its data.tags is an object of Uint8Array"],
  "an object of a class": [{ data: new Point() }, "its data is an object of Point"],
  "a prototype with members": [
    { data: Object.create({ id: "1" }) },
    "its data is an object of Object",
  ],
  "an object with toJSON()": [
    ofData({ inner: { toJSON: () => ({}) } }),
    "its data.inner.toJSON is of the type function",
  ],
  "a function": [ofData({ text: () => {} }), "its data.text is of the type function"],
  "a symbol": [ofData({ text: Symbol() }), "its data.text is of the type symbol"],
  "undefined in a list": [
    ofData({ tags: [undefined] }),
    "its data.tags[0] is of the type undefined",
  ],
  "a hole in a list": [ofData({ tags: [, "a"] }), "its data.tags[0] is of the type undefined"],
  "a circle": [ofData({ inner: circle }), "is nested too deep, or in itself"],
  "a member beyond the schema": [ofData({ more: "a" }), "data: Unrecognized key"],
  "a member beyond an inner schema": [
    ofData({ inner: { c: "a" } }),
    "data.inner: Unrecognized key",
  ],
  "a member __proto__": [
    ofData({ names: JSON.parse('{"__proto__":"a"}') }),
    "its data.names has a member __proto__",
  ],
  "a member that JSON escapes": [
    ofData({ names: { "a\\b": "a" } }),
    "its data.names has a member a\\b, whose name JSON escapes or loses",
  ],
  "a count of every object": [ofData({ text: "constructor" }), "its tally is no name of a count"],
  "a count without a name": [ofData({ text: "" }), "its tally is no name of a count"],
};

function ofData(change: object) {
  return { data: { id: "1", ...change } };
}

for (const [fault, [change, said]] of Object.entries(INVALID)) {
  Deno.test(`expectStorable() refuses ${fault}`, () => {
    const error = assertThrows(() => storable(change), InvalidEventError);
    assertStringIncludes(error.message, said);
    assertEquals([error.name, error.code], ["InvalidEventError", "invalid_event"]);
  });
}

Deno.test("expectStorable() gives the event that its line is read as", () => {
  const actors = ["operator", 'Ann "the cat" O\'Hara', "a\\b", "{a}", "🐈".repeat(100), " ", "Zoë"];
  for (const actor of actors) {
    for (const inner of [{ a: "1", b: "2" }, { b: "2", a: "1" }, { b: undefined }]) {
      const event = storable({ actor, data: { inner, text: undefined, big: -5n, id: "1" } });
      const read = decodeEvent(application, encodeEvent(application, event));
      assertEquals(read, event);
      assertEquals(orderOf(read), orderOf(event));
    }
  }
});

/** The names of members in their order, which `assertEquals()` ignores. */
function orderOf({ data }: Recorded): unknown {
  return Object.entries(data).map(([name, value]) => {
    return [name, typeof value === "object" ? Object.keys(value) : undefined];
  });
}

Deno.test("the records of an append are those of a replay, in whatever order the data had its members", async () => {
  await using store = await openEventStore(application, ":memory:");
  const data = { text: "b", inner: { b: "2", a: "1" }, tags: undefined, id: "1" };
  const { events: [event] } = await store.append({ decide: () => [{ type: "ThingMade", data }] });
  assertEquals(Object.keys(event.data), ["id", "text", "inner"]);
  assertEquals((await audit(store)).faults, []);
  const before = (await store.read(["thing", "1"])).value;
  await replay(store, { graceMs: 0 });
  assertEquals((await store.read(["thing", "1"])).value, before);
});

Deno.test("an append of an event that is not storable is refused, and stores nothing of its command", async () => {
  await using store = await openEventStore(application, ":memory:");
  const good = { type: "ThingMade" as const, data: { id: "1" } };
  const bad: Record<string, unknown>[] = [
    { data: { id: "2", count: 1.5 } },
    { data: { id: "2", text: "x".repeat(LINE_LIMIT_BYTES) } },
    { data: { id: "2", text: "🐈".repeat(LINE_LIMIT_BYTES / 4) } },
    { type: "ThingLost" },
  ];
  for (const change of bad) {
    const second = { ...good, data: { id: "2" }, ...change } as typeof good;
    await assertRejects(() => store.append({ decide: () => [good, second] }), InvalidEventError);
  }
  const { head, value } = await store.read(["thing", "1"]);
  assertEquals([head.position, value], [0, undefined]);
  await store.append({ decide: () => [good] });
  assertEquals((await audit(store)).sound, true);
});

Deno.test("the longest line is stored and read, and one byte more is refused", async () => {
  await using store = await openEventStore(application, ":memory:");
  const append = async (length: number): Promise<Head> => {
    const text = "x".repeat(length);
    const names = { text };
    await store.append({ decide: () => [{ type: "ThingMade", data: { id: "1", names } }] });
    return (await store.read(["thing", "1"])).head;
  };
  const event = storable({ data: { id: "1", names: { text: "" } } });
  const longest = LINE_LIMIT_BYTES - encodeEvent(application, event).length;
  const { message } = await assertRejects(() => append(longest + 1), InvalidEventError);
  assertStringIncludes(message, `its line has ${LINE_LIMIT_BYTES + 1} bytes`);
  assertEquals((await append(longest)).position, 1);
  assertEquals((await audit(store)).sound, true);
});
