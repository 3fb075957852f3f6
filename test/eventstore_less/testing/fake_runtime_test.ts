import { type Collection, dataOf, defineApplication, openEventStore } from "eventstore-less";
import { FakeRuntime } from "eventstore-less/testing";
import { assertEquals } from "@std/assert";
import { z } from "zod";

const Note = z.strictObject({ id: z.string() });
const NOTES: Collection<{ type: "NoteAdded"; data: z.infer<typeof Note> }> = {
  name: "notes",
  isId: (text) => /^[a-z]$/.test(text),
  exampleId: "a",
  events: {
    NoteAdded: {
      data: Note,
      release: "1.0",
      id: ({ id }) => id,
      isFirst: true,
      project: ({ event, line }) => [{ key: ["note", event.data.id], content: dataOf(line) }],
    },
  },
  kinds: { note: { key: ["text"], owner: ([, id]) => `note ${id}` } },
};
const APPLICATION = defineApplication({ name: "Notes", collections: [NOTES] });

Deno.test("Events of a store with a FakeRuntime have the time and the ids that the test has set", async () => {
  const runtime = new FakeRuntime("2026-01-31T12:00:00.000Z");
  await using store = await openEventStore(APPLICATION, ":memory:", { runtime });
  const add = async (id: string) => {
    const decide = () => [{ type: "NoteAdded" as const, data: { id } }];
    const { events: [event] } = await store.append({ decide });
    return event;
  };
  const first = await add("a");
  await runtime.advance(60_000);
  const second = await add("b");
  runtime.jumpClock(-1_000);
  const third = await add("c");
  assertEquals([first, second, third].map(({ time }) => time), [
    "2026-01-31T12:00:00.000Z",
    "2026-01-31T12:01:00.000Z",
    "2026-01-31T12:00:59.000Z",
  ]);
  const again = new FakeRuntime();
  const ids = new Set([first, second, third].map(({ id }) => id));
  assertEquals(ids.size, 3);
  const known = Array.from({ length: 100 }, () => again.newId());
  assertEquals([...ids].filter((id) => !known.includes(id)), []);
});

Deno.test("A FakeRuntime runs timers in order, and waits for the work that each begins", async () => {
  const runtime = new FakeRuntime();
  const seen: string[] = [];
  runtime.setTimer(20, () => seen.push("late"));
  const cancel = runtime.setTimer(5, () => seen.push("cancelled"));
  runtime.setTimer(10, () => {
    const work = new Promise<void>((resolve) => setTimeout(resolve, 5));
    runtime.during(work.then(() => seen.push(`worked at ${runtime.monotonicNow() - start}`)));
  });
  const start = runtime.monotonicNow();
  cancel();
  assertEquals(runtime.waits(), [20, 10]);
  await runtime.advance(15);
  assertEquals(seen, ["worked at 10"]);
  await runtime.advance(5);
  assertEquals(seen, ["worked at 10", "late"]);
});
