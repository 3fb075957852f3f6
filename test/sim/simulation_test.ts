import { assertEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { loadCode } from "./code.ts";
import { findKillingSeed } from "./find_killing_seed.ts";
import { withMutant } from "./mutant_code.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { REGRESSION_SEEDS } from "./regression_seeds.ts";
import { simulate } from "./simulation.ts";

/** Number of seeds in every run of the tests. `deno task sim` runs as many as requested. */
const SEEDS = 60;

async function expectSound(seed: number): Promise<void> {
  const { violations } = await simulate(await loadCode(), seed);
  assertEquals(violations, [], `deno task sim --seed ${seed}`);
}

Deno.test("simulate() gives the same history for the same seed, and another for another", async () => {
  const code = await loadCode();
  const histories = [];
  for (const seed of [7, 7, 8]) {
    const lines: string[] = [];
    const { digest } = await simulate(code, seed, (line) => lines.push(line));
    histories.push({ digest, lines });
  }
  const [one, again, other] = histories;
  assertEquals(one, again);
  assertEquals(one.digest === other.digest, false);
});

Deno.test(`The service keeps its promises in the worlds of seeds 1 to ${SEEDS}`, async () => {
  for (let seed = 1; seed <= SEEDS; seed++) await expectSound(seed);
});

Deno.test("The service keeps its promises in every world that it once broke them in", async () => {
  for (const { seed } of REGRESSION_SEEDS) await expectSound(seed);
});

for (const mutant of MUTANTS.filter(({ isRare }) => !isRare)) {
  Deno.test({
    name: `The simulator sees where ${mutant.name}`,
    ignore: !permitted("read", "write"),
    async fn() {
      const kill = await findKillingSeed(mutant);
      assertEquals(kill === undefined, false, `not found within ${MUTANT_SEEDS} seeds`);
    },
  });
}

for (const mutant of MUTANTS.filter(({ isRare }) => isRare)) {
  Deno.test({
    name: `The code can still be changed so that ${mutant.name}`,
    ignore: !permitted("read", "write"),
    async fn() {
      const { violations } = await withMutant(mutant, (code) => simulate(code, 1));
      assertEquals(violations.filter((words) => words.startsWith("the simulation broke")), []);
    },
  });
}
