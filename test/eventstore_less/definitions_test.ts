import type { EventType, RecordedLine } from "eventstore-less/definitions.ts";
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { IDEMPOTENCY_KIND } from "eventstore-less/keyspace.ts";
import { eventOf } from "eventstore-less/log/lines.ts";
import { project } from "eventstore-less/projections/project.ts";
import { COLLECTIONS, EVENT_TYPES, EVENTS, KINDS } from "eventstore-less/tables.ts";
import { sampleLog } from "../support/sample_log.ts";
import { utf8 } from "../support/utf8.ts";

const SAMPLES: RecordedLine[] = sampleLog(100).map((text) => {
  const line = utf8(text);
  return { event: eventOf(line)!, line };
});

/** The places of a schema at which it accepts only a `number`, which no line of the log gives. */
function numbersIn(schema: z.ZodType): string[] {
  const places: string[] = [];
  z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, path }) {
      if (zodSchema._zod.def.type === "number") places.push(path.join("."));
    },
  });
  return places;
}

function leftKindsOf(type: EventType): string[] {
  return [...EVENTS[type].leaves?.kinds ?? []].sort();
}

Deno.test("no schema of an event asks for a number, because the integers of a line are bigint", () => {
  const nested = z.strictObject({ list: z.array(z.object({ at: z.int().optional() })) });
  assertEquals(numbersIn(nested).length > 0, true);
  for (const type of EVENT_TYPES) assertEquals([type, numbersIn(EVENTS[type].data)], [type, []]);
});

Deno.test("the events of the sample have all types", () => {
  const types = new Set(SAMPLES.map(({ event: { type } }) => type));
  assertEquals([...types].sort(), EVENT_TYPES.toSorted());
});

Deno.test("an event leaves what it says: one content, in records of the kinds that it names", () => {
  for (const recorded of SAMPLES) {
    const { type } = recorded.event;
    const { leaves } = EVENTS[type];
    const written = project([recorded])
      .filter(({ key: [kind], content }) => kind !== IDEMPOTENCY_KIND && content !== undefined);
    const left = written.filter(({ key: [kind] }) => KINDS.get(kind as string)!.isAt !== undefined);
    assertEquals(left.map(({ key: [kind] }) => kind).sort(), leftKindsOf(type));
    for (const { key, content } of left) {
      assertEquals(content, leaves!.content(recorded));
      assertEquals(KINDS.get(key[0] as string)!.isAt!(key, content!), true);
    }
  }
});

Deno.test("the kinds with isAt are those that some event of the collection leaves", () => {
  for (const { events, kinds } of COLLECTIONS) {
    const left = new Set(Object.keys(events).flatMap((type) => leftKindsOf(type as EventType)));
    const withIsAt = Object.keys(kinds).filter((kind) => kinds[kind].isAt !== undefined);
    assertEquals(withIsAt.sort(), [...left].sort());
  }
});
