import { assert } from "@std/assert";
import { permissions, testNeeding } from "../support/test_needing.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { findKillingSeed } from "./run_mutant.ts";

/** The number of test files, which run side by side. */
const COLLECTIONS = 2;

/** Registers the tests of one part of the mutants: every {@linkcode COLLECTIONS}th one, from an index on. */
export function testMutants(part: number): void {
  for (const mutant of MUTANTS.filter((_, index) => index % COLLECTIONS === part)) {
    testNeeding(permissions("read", "write"))(
      `simulate() finds the mutant in which ${mutant.name}`,
      async () => {
        const found = await findKillingSeed(mutant);
        assert(found, `Not found in ${MUTANT_SEEDS} seeds`);
        // The next run need not search.
        if (found.seed !== mutant.seed) console.log("deno task sim --mutants keeps the new seed");
      },
    );
  }
}
