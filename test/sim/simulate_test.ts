import { assertEquals, assertGreater, assertMatch, assertNotEquals } from "@std/assert";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { runTask } from "../support/run_task.ts";
import * as code from "./code_under_test.ts";
import { MUTANTS } from "./mutants.ts";
import { expectSound, importWithColor } from "./run_mutant.ts";
import { simulate } from "./simulate.ts";

/** `deno task sim` runs as many as requested. A plain `deno test` has no time for more. */
const FILES = permissions("read", "write");
const SEEDS = FILES.isMet ? 60 : 5;
const test = testNeeding(FILES);

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

Deno.test(`simulate() finds no violation in seeds 1 to ${SEEDS}`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) await expectSound(seed);
});

test(`simulate() finds no violation with a fourth field in seeds 1 to ${SEEDS}`, async () => {
  const withColor = await importWithColor();
  let shared = 0;
  for (let seed = 1; seed <= SEEDS; seed++) {
    const result = await simulate(withColor, seed, { hasColor: true });
    assertEquals(result.violations, [], `deno task sim --seed ${seed} --color`);
    shared += result.shared;
  }
  assertGreater(shared, SEEDS / 2, "some commits have several events of a pet");
});

test("simulate() finds no violation in the other seeds that find a mutant", async () => {
  const seeds = new Set(MUTANTS.map(({ seed }) => seed ?? 0));
  for (const seed of seeds) if (seed > SEEDS) await expectSound(seed);
});

testNeeding(permissions("env", "read", "run", "write"))(
  "deno task sim runs with the permissions of its task",
  async () => {
    const { code, stdout } = await runTask(["sim", "--seeds", "1"], { kvPath: ":memory:" });
    assertEquals(code, 0);
    assertMatch(stdout, /^1 seeds from \d+: 0 failed;/m);
  },
);
