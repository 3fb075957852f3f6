import { assert, assertEquals, assertNotEquals } from "@std/assert";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { ROOT } from "../support/with_project_copy.ts";
import SEEDS from "./mutant_seeds.json" with { type: "json" };
import { MUTANTS, PATCHES } from "./mutants.ts";
import { patched } from "./patch.ts";
import { firstViolation, importMutant } from "./run_mutant.ts";

testNeeding(permissions("read"))("Every patch applies to its source", async () => {
  for (const patch of PATCHES) {
    const source = await Deno.readTextFile(ROOT + patch.file);
    assertNotEquals(patched(patch, source), source, patch.name);
  }
});

Deno.test("Each mutant has a name of its own, and a seed", () => {
  assertEquals(MUTANTS.map(({ name }) => name).sort(), Object.keys(SEEDS).sort());
});

for (const mutant of MUTANTS) {
  testNeeding(permissions("read", "write"))(
    `simulate() finds the mutant in which ${mutant.name}`,
    async () => {
      const violation = await firstViolation(await importMutant(mutant), mutant.seed!);
      const advice = `deno task sim --mutants "${mutant.name}" searches and keeps another seed`;
      assert(violation !== undefined, `Seed ${mutant.seed} does not find it: ${advice}`);
    },
  );
}
