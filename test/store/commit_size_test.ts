import { assertEquals, assertLessOrEqual } from "@std/assert";
import { splitIntoCommits } from "../../src/store/commit_size.ts";
import { KV_LIMITS, KvStore } from "../../src/store/deno_kv/kv_store.ts";
import type { Mutation } from "../../src/store/store.ts";

const CASES: [string, Mutation[]][] = [
  ["many small", numbered(5_000, () => "x")],
  ["long texts outside Latin-1", numbered(100, () => "猫".repeat(20_000))],
  ["long bytes", numbered(60, () => new Uint8Array(60_000))],
  [
    "long keys",
    Array.from({ length: 2_000 }, (_, index) => {
      return { type: "delete", key: ["k".repeat(150), index] };
    }),
  ],
];

Deno.test("splitIntoCommits() keeps the order, and KV accepts every part together with a head", async () => {
  const store = new KvStore(await Deno.openKv(":memory:"));
  const head: Mutation = { type: "set", key: ["head"], value: "x".repeat(400) };
  for (const [name, mutations] of CASES) {
    const parts = [...splitIntoCommits(mutations, KV_LIMITS)];
    assertEquals(parts.flat(), mutations, name);
    for (const part of parts) {
      await store.commit({ checks: [], mutations: [...part, head] });
    }
    // The parts are not needlessly small, either.
    assertLessOrEqual(parts.length, 20, name);
  }
  store.close();
});

Deno.test("splitIntoCommits() yields nothing without mutations", () => {
  assertEquals([...splitIntoCommits([], KV_LIMITS)], []);
});

function numbered(count: number, value: () => string | Uint8Array): Mutation[] {
  return Array.from({ length: count }, (_, index) => {
    return { type: "set", key: ["n", index], value: value() };
  });
}
