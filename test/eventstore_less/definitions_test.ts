import type { RecordedEvent, RecordedLine } from "../../events/all_events.ts";
import { APPLICATION } from "../../src/application.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { z } from "zod";
import { OPERATOR } from "../../src/eventstore_less/log/actor.ts";
import { decodeEvent, encodeEvent, GENESIS_HASH } from "../../src/eventstore_less/log/event.ts";
import { eventOf } from "../../src/eventstore_less/log/lines.ts";
import { expectReadable } from "../support/expect_readable.ts";
import { sampleLog } from "../support/sample_log.ts";
import { utf8 } from "../support/utf8.ts";

const SAMPLES: RecordedLine[] = sampleLog(110).map((text) => {
  const line = utf8(text);
  return { event: eventOf(APPLICATION, line)!, line };
});

const METADATA = {
  id: "01HZZZZZZZ0000000000000001",
  time: "2026-01-01T00:00:00.000Z",
  actor: OPERATOR,
  position: Number.MAX_SAFE_INTEGER,
  previousHash: GENESIS_HASH,
};

Deno.test("each event of any data that its schema accepts is read back from its line", () => {
  for (const type of APPLICATION.eventTypes) {
    for (const data of expectReadable(APPLICATION.events[type].data, type)) {
      const event = { ...METADATA, type, data } as RecordedEvent;
      assertEquals(decodeEvent(APPLICATION, encodeEvent(APPLICATION, event)), event);
    }
  }
});

Deno.test("a schema that accepts no sample needs one of its own", () => {
  const unknown = z.string().refine((it) => it === "unknown");
  const message = "test.member accepts no sample: give it one by .meta({ examples: [value] })";
  assertThrows(() => expectReadable(z.strictObject({ member: unknown }), "test"), Error, message);
  const known = unknown.meta({ examples: ["unknown"] });
  const found = expectReadable(z.strictObject({ member: known.optional() }), "test");
  assertEquals(found, [{ member: "unknown" }, {}]);
});

Deno.test("the events of the sample have all types", () => {
  const types = new Set(SAMPLES.map(({ event: { type } }) => type));
  assertEquals([...types].sort(), APPLICATION.eventTypes.toSorted());
});

Deno.test("no two records of a numbered kind share the number at the end of their keys", () => {
  const keys = new Map<string, string>();
  for (const recorded of SAMPLES) {
    for (const { key, content } of APPLICATION.events[recorded.event.type].project(recorded)) {
      if (!APPLICATION.kinds.get(key[0] as string)!.isNumbered) continue;
      const number = key.at(-1);
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
