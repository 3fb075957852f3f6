import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { permitted } from "../support/permitted.ts";
import { runTask } from "../support/run_task.ts";
import * as code from "./code_under_test.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { expectSound, findKillingSeed } from "./run_mutant.ts";
import { simulate } from "./simulate.ts";

/** `deno task sim` runs as many as requested. A plain `deno test` has no time for more. */
const SEEDS = permitted("read", "write") ? 60 : 5;

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
  for (let seed = 1; seed <= SEEDS; seed++) await expectSound(seed);
});

for (const mutant of MUTANTS) {
  Deno.test({
    name: `simulate() finds the mutant in which ${mutant.name}`,
    ignore: !permitted("read", "write"),
    async fn() {
      const found = await findKillingSeed(mutant);
      assert(found, `Not found in ${MUTANT_SEEDS} seeds`);
      // The next run need not search.
      if (found.seed !== mutant.seed) console.log("deno task sim --mutants keeps the new seed");
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
