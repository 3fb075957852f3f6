import { withMutant } from "./mutant_code.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { simulate } from "./simulation.ts";

/** How a mutant was found. */
export interface Kill {
  seed: number;
  violation: string;
}

/** Runs a mutant on one seed after the other until it is found; `undefined` where it never is. */
export function hunt(mutant: Mutant, seeds = MUTANT_SEEDS): Promise<Kill | undefined> {
  return withMutant(mutant, async (code) => {
    for (let seed = 1; seed <= seeds; seed++) {
      const [violation] = (await simulate(code, seed)).violations;
      if (violation !== undefined) return { seed, violation };
    }
  });
}
