/** Personal texts in lists, in records and in objects of lists are erased. */

import { assertEquals } from "@std/assert";
import { dataOf, defineApplication, defineCollection, openEventStore } from "eventstore-less";
import { joinLines, readLog, splitLines } from "eventstore-less/parts";
import { z } from "zod";
import { redacted } from "../../../src/eventstore_less/tools/restore/redact.ts";
import { verifyExport } from "../../../src/eventstore_less/tools/restore/verify_export.ts";

const Guests = z.strictObject({
  id: z.string(),
  guest: z.string(),
  guests: z.array(z.string()),
  rooms: z.array(z.strictObject({ beds: z.bigint(), guest: z.string().nullable() })),
  notes: z.record(z.string(), z.strictObject({ guest: z.string() })),
});

const STAYS = defineCollection({
  name: "stays",
  events: {
    StayBooked: {
      data: Guests,
      isFirst: true,
      project: ({ event, line }) => [{ key: ["stay", event.data.id], content: dataOf(line) }],
    },
  },
  personal: ["guest", "guests"],
  kinds: { stay: { key: ["text"] } },
});

const application = defineApplication({ name: "Stays", collections: [STAYS] });

Deno.test("redacted() erases texts in lists, in records and in objects of lists, and keeps the rest", async () => {
  await using store = await openEventStore(application, ":memory:");
  const data = {
    id: "1",
    guest: "Ann",
    guests: ["Ann", "Bob"],
    rooms: [{ beds: 2n, guest: "Bob" }, { beds: 1n, guest: null }],
    notes: { first: { guest: "Cid" } },
  };
  const { events: [{ position }] } = await store.append({
    decide: () => [{ type: "StayBooked", data }],
  });
  const lines = (await Array.fromAsync(readLog(store.store, { from: 1, to: position }))).flat()
    .map(({ line }) => line);
  const source = () => ReadableStream.from([joinLines(lines)]);
  const { head } = await verifyExport(application, source);
  const erased = () => redacted(application, source, head, ["stays/1"]);
  const [[line]] = await Array.fromAsync(splitLines(erased()));
  assertEquals(JSON.parse(new TextDecoder().decode(dataOf(line))), {
    id: "1",
    guest: "(removed)",
    guests: ["(removed)", "(removed) 2"],
    rooms: [{ beds: 2, guest: "(removed) 2" }, { beds: 1, guest: null }],
    notes: { first: { guest: "(removed) 3" } },
  });
  assertEquals((await verifyExport(application, erased)).position, 1);
});
