import { assert, assertEquals } from "@std/assert";
import { defineApplication, defineCollection, openEventStore } from "eventstore-less";
import { openMemoryStore } from "eventstore-less/testing";
import { z } from "zod";
import { LogTail } from "../../../src/eventstore_less/consumers/log_tail.ts";

const NOTES = defineCollection({
  name: "notes",
  events: {
    NoteAdded: {
      data: z.strictObject({ id: z.string(), text: z.string() }),
      isFirst: true,
      project: () => [],
    },
  },
  kinds: {},
});
const application = defineApplication({ name: "Notes", collections: [NOTES] });

Deno.test("LogTail gives a consumer no more than it may keep in memory, whether it is far behind or not", async () => {
  const memory = await openMemoryStore();
  await using store = await openEventStore(application, memory);
  for (let id = 1; id <= 60; id++) {
    const data = { id: String(id), text: "x".repeat(20_000) };
    await store.append({ decide: () => [{ type: "NoteAdded", data }] });
  }
  const waitForCommit = () => Promise.resolve();
  const { heads } = store;
  const tail = new LogTail({ application, heads, store: store.store, waitForCommit });
  for (let reader = 0; reader < 2; reader++) {
    const positions: number[] = [];
    while (positions.length < 60) {
      const lines = await tail.after(positions.length);
      const bytes = lines.reduce((sum, { line }) => sum + line.length, 0);
      assert(bytes > 0 && bytes < 160_000, `${bytes} bytes`);
      positions.push(...lines.map(({ event }) => event.position));
    }
    // The next reader begins far behind what the tail keeps.
    assertEquals(positions, Array.from({ length: 60 }, (_, index) => index + 1));
  }
});
