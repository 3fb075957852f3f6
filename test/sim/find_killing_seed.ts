import { loadCode } from "./code.ts";
import { withMutant } from "./mutant_code.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { simulate } from "./simulation.ts";

/** How a mutant was found. */
export interface Kill {
  seed: number;
  violation: string;
}

/**
 * Runs a mutant on one seed after the other until one is found on which it fails and the real code does
 * not; `undefined` where there is none.
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
