import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";
import * as code from "./code_under_test.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { findKillingSeed, withMutant } from "./run_mutant.ts";
import { simulate, SIMULATOR_FAILED } from "./simulate.ts";

/** Number of seeds in every run of the tests. `deno task sim` runs as many as requested. */
const SEEDS = 60;

Deno.test("simulate() gives the same trace for the same seed, and another for another seed", async () => {
  const traces: string[][] = [];
  for (const seed of [7, 7, 8]) {
    const lines: string[] = [];
    await simulate(code, seed, (line) => lines.push(line));
    traces.push(lines);
  }
  const [first, repeated, other] = traces;
  assertEquals(first, repeated);
  assertNotEquals(first, other);
});

Deno.test(`simulate() finds no violation in seeds 1 to ${SEEDS}`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const { violations } = await simulate(code, seed);
    assertEquals(violations, [], `deno task sim --seed ${seed}`);
  }
});

for (const mutant of MUTANTS) {
  const { name, isRare } = mutant;
  Deno.test({
    name: `simulate() ${isRare ? "can run" : "finds"} the mutant in which ${name}`,
    ignore: !permitted("read", "write"),
    async fn() {
      if (!isRare) {
        assertNotEquals(await findKillingSeed(mutant), undefined, `in ${MUTANT_SEEDS} seeds`);
        return;
      }
      const { violations } = await withMutant(mutant, (mutated) => simulate(mutated, 1));
      assertEquals(violations.filter((text) => text.startsWith(SIMULATOR_FAILED)), []);
    },
  });
}

Deno.test({
  name: "deno task sim runs with the permissions of its task",
  ignore: !permitted("env", "read", "run", "write"),
  async fn() {
    const { code, stdout } = await runTask(["sim", "--seeds", "1"], { kvPath: ":memory:" });
    assertEquals(code, 0);
    assertMatch(stdout, /^1 seeds from \d+: 0 failed;/m);
  },
});
