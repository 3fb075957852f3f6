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
 * Searches the first {@linkcode MUTANT_SEEDS} seeds for one in which the mutant has a violation and the real
 * code has none. Resolves to `undefined` if no seed is found.
 */
export function findKillingSeed(mutant: Mutant): Promise<Kill | undefined> {
  return withMutant(mutant, async (mutated) => {
    const code = await loadCode();
    for (let seed = 1; seed <= MUTANT_SEEDS; seed++) {
      const [violation] = (await simulate(mutated, seed)).violations;
      if (violation === undefined) continue;
      if ((await simulate(code, seed)).violations.length === 0) return { seed, violation };
    }
  });
}
