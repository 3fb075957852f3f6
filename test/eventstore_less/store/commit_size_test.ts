import { assertEquals, assertGreater, assertNotEquals } from "@std/assert";
import { fillOf, groupIntoCommits } from "../../../src/eventstore_less/store/commit_size.ts";
import { HEAD_KEY } from "../../../src/eventstore_less/keyspace.ts";
import { KvStore } from "../../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { type Mutation, STORE_LIMITS } from "../../../src/eventstore_less/store/store.ts";
import { set } from "../../support/store_contract.ts";

/** Mutations that reach the limits of a commit in one way each. */
const CASES: Record<string, Mutation[]> = {
  "many small values": numbered(5_000, () => 1),
  "long values": numbered(60, () => 60_000),
  "long keys": Array.from({ length: 2_000 }, (_, index) => {
    return { type: "delete", key: ["k".repeat(150), index] };
  }),
  "values that become longer": numbered(2_000, (index) => index),
  "all kinds": numbered(3_000, (index) => index * 14 % 2_000),
};

const seal = (mutations: readonly Mutation[]) => ({ mutations: [...mutations] });

Deno.test("groupIntoCommits() keeps the order, and KV accepts every full commit together with a head", async () => {
  const head = set(["head"], new Uint8Array(400));
  for (const [name, mutations] of Object.entries(CASES)) {
    const batches = [mutations.slice(0, 7), mutations.slice(7)];
    const commits = await Array.fromAsync(
      groupIntoCommits(batches, seal, STORE_LIMITS),
      ({ mutations }) => mutations,
    );
    assertEquals(commits.flat(), mutations, name);
    for (const commit of commits) {
      using kv = await Deno.openKv(":memory:");
      // Deno KV checks its limits.
      const guarded = {
        guard: { key: HEAD_KEY, versionstamp: null },
        mutations: [...commit, head],
      };
      assertNotEquals(await new KvStore(kv, HEAD_KEY).commit(guarded), null);
    }
    // The first commit shows how large the items are.
    for (const commit of commits.slice(1, -1)) {
      assertGreater(fillOf(commit, STORE_LIMITS), 0.8, name);
    }
  }
});

Deno.test("groupIntoCommits() gathers a limited number of items that make few mutations, and makes no empty commit", async () => {
  assertEquals(await Array.fromAsync(groupIntoCommits([[]], seal, STORE_LIMITS)), []);
  const items = CASES["many small values"].flatMap((it) => Array(10).fill(it));
  const sealFirst = (some: readonly Mutation[]) => ({ count: some.length, mutations: [some[0]] });
  const commits = await Array.fromAsync(groupIntoCommits([items], sealFirst, STORE_LIMITS));
  const counts = commits.map(({ count }) => count);
  assertEquals([Math.max(...counts), counts.reduce((sum, it) => sum + it)], [5_000, 50_000]);
});

function numbered(count: number, length: (index: number) => number): Mutation[] {
  return Array.from({ length: count }, (_, n) => set(["n", n], new Uint8Array(length(n))));
}
