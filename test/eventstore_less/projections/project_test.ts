import type { RecordedLine } from "../../../events/all_events.ts";
import { APPLICATION } from "../../../src/application.ts";
import { isPetEvent } from "../../../src/animals/pet_event.ts";
import { petKey } from "../../../src/animals/pet_keys.ts";
import { petOf } from "../../../src/animals/pet_records.ts";
import { assertEquals, assertThrows } from "@std/assert";
import { decodeEvent } from "../../../src/eventstore_less/log/event.ts";
import { encodePet, type Pet } from "../../../events/pet.ts";
import { projectionKey } from "../../../src/eventstore_less/keyspace.ts";
import { project } from "../../../src/eventstore_less/projections/project.ts";
import { ServiceError } from "../../../src/eventstore_less/service_error.ts";
import { withChecksum } from "../../../src/eventstore_less/store/checksum.ts";
import { sampleLog } from "../../support/sample_log.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

Deno.test("petOf() refuses a record whose text is that of another pet", () => {
  const key = projectionKey(1, petKey("none", 8));
  const value = withChecksum(key, encoder.encode('9{"id":7,"name":"Rex","categoryId":1}'));
  assertThrows(() => petOf({ key, value, versionstamp: "1" }), ServiceError, "pet 8 has another");
});

Deno.test("project() leads to the same records however the events are grouped, and to each pet in one list", () => {
  const lines = sampleLog(500).map((line): RecordedLine => ({
    event: decodeEvent(APPLICATION, line),
    line: encoder.encode(line),
  }));
  const recordsAfter = (size: number) => {
    const records = new Map<string, string>();
    for (let start = 0; start < lines.length; start += size) {
      const group = project(APPLICATION, lines.slice(start, start + size));
      const keys = group.map(({ key }) => key.join("/"));
      assertEquals(new Set(keys).size, keys.length, "each record once");
      for (const { key, content } of group) {
        if (content === undefined) records.delete(key.join("/"));
        else records.set(key.join("/"), decoder.decode(content));
      }
    }
    return [...records].sort();
  };
  const all = recordsAfter(lines.length);
  const recordsOf = (kind: string) => all.filter(([key]) => key.startsWith(kind));
  const newest = new Map<number, Pet>();
  for (const { event } of lines) {
    if (event.type === "PetRemoved") newest.delete(event.data.id);
    else if (isPetEvent(event)) newest.set(event.data.id, event.data);
  }
  const pets = [...newest.values()];
  const texts = recordsOf("pet/").map(([, content]) => content.replace(/^\d+/, ""));
  assertEquals(texts.sort(), pets.map(encodePet).sort());
  for (const size of [1, 3, 50]) assertEquals(recordsAfter(size), all);
});
