import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";
import { findKillingSeed } from "./find_killing_seed.ts";
import { loadCode } from "./load_code.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { REGRESSION_SEEDS } from "./regression_seeds.ts";
import { simulate, SIMULATOR_FAILED } from "./simulate.ts";
import { withMutant } from "./with_mutant.ts";

/** Number of seeds in every run of the tests. `deno task sim` runs as many as requested. */
const SEEDS = 60;

async function assertNoViolation(seed: number): Promise<void> {
  const { violations } = await simulate(await loadCode(), seed);
  assertEquals(violations, [], `deno task sim --seed ${seed}`);
}

Deno.test("simulate() gives the same trace for the same seed, and another for another seed", async () => {
  const code = await loadCode();
  const traces = [];
  for (const seed of [7, 7, 8]) {
    const lines: string[] = [];
    const { digest } = await simulate(code, seed, (line) => lines.push(line));
    traces.push({ digest, lines });
  }
  const [first, repeated, other] = traces;
  assertEquals(first, repeated);
  assertNotEquals(first.digest, other.digest);
});

Deno.test(`simulate() finds no violation in seeds 1 to ${SEEDS}`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) await assertNoViolation(seed);
});

Deno.test("simulate() finds no violation in the seeds that once found a fault", async () => {
  for (const { seed } of REGRESSION_SEEDS) await assertNoViolation(seed);
});

for (const mutant of MUTANTS.filter(({ isRare }) => !isRare)) {
  Deno.test({
    name: `simulate() finds the mutant in which ${mutant.name}`,
    ignore: !permitted("read", "write"),
    async fn() {
      assertNotEquals(await findKillingSeed(mutant), undefined, `in ${MUTANT_SEEDS} seeds`);
    },
  });
}

for (const mutant of MUTANTS.filter(({ isRare }) => isRare)) {
  Deno.test({
    name: `simulate() can run the mutant in which ${mutant.name}`,
    ignore: !permitted("read", "write"),
    async fn() {
      const { violations } = await withMutant(mutant, (code) => simulate(code, 1));
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
