/** Records whose keys differ only in where a text ends, or in the form of a number. */

import { assertEquals } from "@std/assert";
import {
  type Collection,
  dataOf,
  defineApplication,
  openEventStore,
  type RecordedData,
} from "eventstore-less";
import { audit, replay } from "eventstore-less/tools";
import { z } from "zod";

const Pair = z.strictObject({ id: z.string(), first: z.string(), second: z.string() });
type PairData = z.infer<typeof Pair>;
type PairBody = { type: "PairStored"; data: PairData } | { type: "PairMoved"; data: PairData };

const OF_PAIR = {
  data: Pair,
  project({ event: { data }, line }: RecordedData<PairData>) {
    return [
      { key: ["pair", data.first, data.second], content: dataOf(line) },
      { key: ["count", data.id, 1], content: dataOf(line) },
    ];
  },
};

const PAIRS: Collection<PairBody> = {
  name: "pairs",
  events: { PairStored: OF_PAIR, PairMoved: OF_PAIR },
  kinds: {
    pair: { key: ["text", "text"] },
    count: { key: ["text", "number"] },
  },
};

const application = defineApplication({ name: "Pairs", collections: [PAIRS] });

Deno.test("two events of a subject in one commit write two records whose keys differ in a comma only", async () => {
  await using store = await openEventStore(application, ":memory:");
  const stored = { id: "1", first: "a,b", second: "c" };
  const moved = { id: "1", first: "a", second: "b,c" };
  await store.append({
    decide: () => [
      { type: "PairStored", data: stored },
      { type: "PairMoved", data: moved, predecessor: 1 },
    ],
  });
  assertEquals((await store.read(["pair", "a,b", "c"])).value, stored);
  assertEquals((await store.read(["pair", "a", "b,c"])).value, moved);
  assertEquals((await audit(store)).faults, []);
});

Deno.test("records of two subjects share the number at the end of their keys unless the kind is numbered", async () => {
  await using store = await openEventStore(application, ":memory:");
  for (const id of ["1", "2"]) {
    await store.append({
      decide: () => [{ type: "PairStored", data: { id, first: id, second: id } }],
    });
  }
  assertEquals((await audit(store)).faults, []);
  await replay(store, { graceMs: 0 });
  assertEquals((await audit(store)).faults, []);
});
