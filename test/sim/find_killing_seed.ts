import { loadCode } from "./load_code.ts";
import { withMutant } from "./with_mutant.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { simulate } from "./simulate.ts";

/** The seed that found a mutant, and the first violation. */
export interface Kill {
  seed: number;
  violation: string;
}

/**
 * Searches the seeds in order for one on which the mutant fails and the real code does not. Resolves to
 * `undefined` if no seed is found.
 */
export function findKillingSeed(mutant: Mutant, seeds = MUTANT_SEEDS): Promise<Kill | undefined> {
  return withMutant(mutant, async (mutated) => {
    const code = await loadCode();
    for (let seed = 1; seed <= seeds; seed++) {
      const [violation] = (await simulate(mutated, seed)).violations;
      if (violation === undefined) continue;
      if ((await simulate(code, seed)).violations.length === 0) return { seed, violation };
    }
  });
}
