/** Random data of a schema of all forms that are allowed is read as it was appended. */

import { assertEquals } from "@std/assert";
import {
  dataOf,
  defineApplication,
  defineCollection,
  openEventStore,
  type Recorded,
} from "eventstore-less";
import { safeInteger } from "eventstore-less/encoding";
import { INT64_MAX, INT64_MIN, parseExactJson } from "eventstore-less/int64";
import { joinLines, readLog } from "eventstore-less/parts";
import { audit, restore } from "eventstore-less/tools";
import { z } from "zod";
import { isMemberName } from "../../src/eventstore_less/encoding/value_preserving.ts";
import { Random } from "../sim/random.ts";

const EVENTS = 300;

const Inner = z.strictObject({ b: z.bigint().nullable(), a: z.string().optional() });

const Shape = z.discriminatedUnion("shape", [
  z.strictObject({ shape: z.literal("circle"), radius: z.bigint() }),
  z.strictObject({ shape: z.literal("box"), sides: z.tuple([z.bigint(), z.bigint()]) }),
]);

const Anything = z.strictObject({
  id: z.string(),
  text: z.string().min(0).brand("Text"),
  email: z.email().optional(),
  day: z.iso.date().optional(),
  template: z.templateLiteral(["a-", z.string()]).optional(),
  yes: z.boolean(),
  nothing: z.null(),
  big: z.bigint(),
  count: safeInteger(),
  choice: z.enum(["a", "b"]).nullable(),
  literal: z.literal(["x", 7n, true, null]),
  checked: z.string().pipe(z.string().max(99)).refine((it) => it !== "refused").optional(),
  list: z.array(z.array(Inner)),
  tuple: z.tuple([z.string(), Inner], z.bigint()),
  inner: Inner.readonly().optional(),
  record: z.record(z.string(), Inner),
  partial: z.partialRecord(z.enum(["p", "q"]), z.bigint()),
  union: z.union([z.string(), safeInteger(), z.array(z.bigint()), Inner, z.null()]),
  shape: Shape,
});
type Anything = z.output<typeof Anything>;

const THINGS = defineCollection({
  name: "things",
  events: {
    ThingMade: {
      data: Anything,
      isFirst: true,
      project: ({ event: { data }, line }) => [{ key: ["thing", data.id], content: dataOf(line) }],
    },
  },
  kinds: { thing: { key: ["text"] } },
});

const application = defineApplication({ name: "Things", collections: [THINGS] });

const open = () => openEventStore(application, ":memory:");
type Things = Awaited<ReturnType<typeof open>>;

/** Characters that JSON escapes, that lines or patterns of lines have, and that take several bytes. */
const CHARACTERS = [..."aZ09 \"'\\/{}[],:\n\r\t\0\u007f\u2028\u2029é🐈\ufeff\uffff", "__proto__"];

class AnyData {
  #random: Random;

  constructor(seed: number) {
    this.#random = new Random(seed);
  }

  make(id: string): Anything {
    const members: [string, unknown][] = Object.entries({
      id,
      text: this.text(),
      email: this.maybe(() => "a@b.example"),
      day: this.maybe(() => "2028-02-29"),
      template: this.maybe(() => `a-${this.text()}`),
      yes: this.one([true, false]),
      nothing: null,
      big: this.big(),
      count: this.count(),
      choice: this.one(["a", "b", null]),
      literal: this.one(["x", 7n, true, null]),
      checked: this.maybe(() => this.text()),
      list: this.list(() => this.list(() => this.inner())),
      tuple: [this.text(), this.inner(), ...this.list(() => this.big())],
      inner: this.maybe(() => this.inner()),
      record: this.record(),
      partial: this.one([{}, { q: this.big() }, { q: this.big(), p: 0n }]),
      union: this.one([this.text(), this.count(), [this.big()], this.inner(), null]),
      shape: this.one([
        { radius: this.big(), shape: "circle" },
        { sides: [this.big(), 1n], shape: "box" },
      ]),
    }).filter(([, value]) => value !== undefined);
    const shuffled = members.map((member) => ({ member, order: this.#random.next() }))
      .sort((one, other) => one.order - other.order);
    return Object.fromEntries(shuffled.map(({ member }) => member)) as Anything;
  }

  one<Value>(values: readonly Value[]): Value {
    return this.#random.pick(values);
  }

  maybe<Value>(make: () => Value): Value | undefined {
    return this.#random.chance(0.5) ? make() : undefined;
  }

  list<Value>(make: () => Value): Value[] {
    return Array.from({ length: this.one([0, 1, 2]) }, make);
  }

  text(): string {
    return Array.from({ length: this.one([0, 1, 5, 20]) }, () => this.one(CHARACTERS)).join("")
      .toWellFormed();
  }

  big(): bigint {
    return this.one([0n, 1n, -1n, INT64_MIN, INT64_MAX, 10n ** 15n, 2n ** 53n + 1n]);
  }

  count(): number {
    return this.one([0, 1, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 1e15]);
  }

  inner(): object {
    return this.one([{ b: this.big() }, { a: this.text(), b: null }, { b: null, a: "" }]);
  }

  record(): Record<string, object> {
    const names = ["", "1", "10", "2", "a", "constructor", "toJSON", this.text()];
    const chosen = names.filter((name) => isMemberName(name) && this.#random.chance(0.5));
    return Object.fromEntries(chosen.map((name) => [name, this.inner()]));
  }
}

Deno.test("data is the same when it was appended, followed, read, exported and restored", async () => {
  const random = new AnyData(72);
  const all = Array.from({ length: EVENTS }, (_, index) => random.make(`${index + 1}`));
  await using store = await open();
  for (const data of all) {
    const { events } = await store.append({ decide: () => [{ type: "ThingMade", data }] });
    assertEquals(events[0].data, data);
  }
  const { head } = await store.heads.fresh();
  const lines = (await Array.fromAsync(readLog(store.store, { from: 1, to: head.position })))
    .flat().map(({ line }) => line);
  for (const data of all) {
    assertEquals((await store.read(["thing", data.id])).value, asRecord(data));
  }
  assertEquals(lines.map((line) => Anything.parse(parseExactJson(decode(dataOf(line))))), all);
  await using restored = await open();
  const exported = () => ReadableStream.from([joinLines(lines)]);
  await restore(exported, application, restored);
  for (const each of [store, restored]) {
    assertEquals((await followed(each)).map(({ data }) => data), all);
    assertEquals((await audit(each)).faults, []);
  }
});

/** The value as records are read: an integer is a `number` if that is exact. */
function asRecord(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(asRecord);
  return Object.fromEntries(Object.entries(value).map(([name, it]) => [name, asRecord(it)]));
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

async function followed(store: Things): Promise<Recorded[]> {
  const events: Recorded[] = [];
  for await (const { event } of store.follow()) {
    events.push(event);
    if (events.length === EVENTS) break;
  }
  return events;
}
