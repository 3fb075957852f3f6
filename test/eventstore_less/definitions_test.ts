import type { RecordedLine } from "eventstore-less/definitions.ts";
import { assertEquals } from "@std/assert";
import { z } from "zod";
import { eventOf } from "eventstore-less/log/lines.ts";
import { EVENT_TYPES, EVENTS } from "eventstore-less/tables.ts";
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

Deno.test("no schema of an event asks for a number, because the integers of a line are bigint", () => {
  const nested = z.strictObject({ list: z.array(z.object({ at: z.int().optional() })) });
  assertEquals(numbersIn(nested).length > 0, true);
  for (const type of EVENT_TYPES) assertEquals([type, numbersIn(EVENTS[type].data)], [type, []]);
});

Deno.test("the events of the sample have all types", () => {
  const types = new Set(SAMPLES.map(({ event: { type } }) => type));
  assertEquals([...types].sort(), EVENT_TYPES.toSorted());
});

Deno.test("no two records of a kind share the number at the end of their keys", () => {
  const keys = new Map<string, string>();
  for (const recorded of SAMPLES) {
    for (const { key, content } of EVENTS[recorded.event.type].project(recorded)) {
      const number = key.at(-1);
      if (typeof number !== "number") continue;
      const name = `${key[0]}/${number}`;
      const former = keys.get(name);
      if (content === undefined) {
        if (former === key.join("/")) keys.delete(name);
        continue;
      }
      assertEquals(former ?? key.join("/"), key.join("/"), "the former record was removed");
      keys.set(name, key.join("/"));
    }
  }
  assertEquals(keys.size > 0, true);
});
