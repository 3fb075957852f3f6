import { assertEquals, assertGreater, assertMatch, assertNotEquals } from "@std/assert";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { runTask } from "../support/run_task.ts";
import * as code from "./code_under_test.ts";
import { MUTANTS } from "./mutants.ts";
import { expectSound } from "./run_mutant.ts";
import { simulate } from "./simulate.ts";

Deno.test("simulate() gives the same trace for the same seed, and another for another seed", async () => {
  const traces: string[][] = [];
  for (const seed of [8, 8, 10]) {
    const lines: string[] = [];
    await simulate(code, seed, { onTrace: (line) => lines.push(line) });
    traces.push(lines);
  }
  const [first, repeated, other] = traces;
  assertEquals(first, repeated);
  assertNotEquals(first, other);
});

/** A plain `deno test` has time for few, and `deno task sim` runs as many as requested. */
const FILES = permissions("read", "write");
const SEEDS = FILES.isMet ? MUTANTS.map(({ seed }) => seed!) : [7, 8, 9, 10, 11];

Deno.test("simulate() finds no violation in the seeds that find a mutant", async () => {
  let shared = 0;
  const seeds = new Set(SEEDS);
  for (const seed of seeds) shared += await expectSound(seed);
  assertGreater(shared, seeds.size / 4, "some commits have several events of a pet");
});

testNeeding(permissions("env", "read", "run", "write"))(
  "deno task sim runs with the permissions of its task",
  async () => {
    const { code, stdout } = await runTask(["sim", "--seeds", "1"], { kvPath: ":memory:" });
    assertEquals(code, 0);
    assertMatch(stdout, /^1 seeds from \d+: 0 failed;/m);
  },
);
