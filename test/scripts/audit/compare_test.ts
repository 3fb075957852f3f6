import { assertEquals, assertRejects } from "@std/assert";
import { compareServed, UnsoundError } from "../../../scripts/audit/compare.ts";
import { replay } from "../../../scripts/replay/replay.ts";
import { logKey, petKey, projectionKey } from "../../../src/keyspace.ts";
import { openSampleStore } from "../../support/sample_store.ts";
import { faultyStore } from "../../support/faulty_store.ts";

const IGNORE = () => {};

Deno.test("compareServed() finds a difference, and writes nothing", async () => {
  using sample = await openSampleStore(30);
  const store = faultyStore(sample.store);
  const deps = { store, runtime: sample.runtime };
  assertEquals((await compareServed(deps, IGNORE)).differences.total, 0);
  // The record of pets 5 and 6.
  const key = projectionKey(1, petKey(6));
  await sample.store.commit({ checks: [], mutations: [{ type: "delete", key }] });
  const { generation, events, differences } = await compareServed(deps, IGNORE);
  assertEquals([generation, events], [1, 30]);
  assertEquals(differences.counts, { missing: 2, extra: 0, altered: 0 });
  const first = projectionKey(1, petKey(5));
  assertEquals(differences.first, {
    missing: { kind: "missing", key: first, petId: 5, position: 6 },
  });
  assertEquals(store.commits, []);
});

Deno.test("compareServed() starts again if a replay removes the records that it reads", async () => {
  using sample = await openSampleStore(30);
  let isFirst = true;
  const store = faultyStore(sample.store, {
    async onList(apply, range) {
      if (isFirst && "start" in range && range.start?.[2] === "pet") {
        isFirst = false;
        await replay(sample, { graceMs: 0 });
      }
      return await apply();
    },
  });
  const { generation, differences } = await compareServed(
    { store, runtime: sample.runtime },
    IGNORE,
  );
  assertEquals([isFirst, generation, differences.total], [false, 2, 0]);
});

Deno.test("compareServed() rejects at a missing record, also at the end of the log", async () => {
  for (
    const [last, words] of [
      [14, "Position 8 of the log is missing"],
      [30, "Position 30 of the log is missing"],
    ] as const
  ) {
    using sample = await openSampleStore(30);
    const key = logKey(last);
    await sample.store.commit({ checks: [], mutations: [{ type: "delete", key }] });
    await assertRejects(() => compareServed(sample, IGNORE), UnsoundError, words);
  }
});
