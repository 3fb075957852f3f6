import { cp } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { ROOT, withProjectCopy } from "../support/with_project_copy.ts";
import * as code from "./code_under_test.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { simulate } from "./simulate.ts";

/** Where a copy of the code has its copy of the file that imports it. */
const CODE = "test/sim/code_under_test.ts";

/** Runs `use` with a mutant of the code, in a temporary folder. */
export function withMutant<T>(
  { name, file, edits }: Mutant,
  use: (mutated: code.Code) => Promise<T>,
): Promise<T> {
  return withProjectCopy(async (folder) => {
    await cp(ROOT + CODE, `${folder}/${CODE}`);
    let source = await Deno.readTextFile(ROOT + file);
    for (const [text, instead] of edits) {
      const places = source.split(text).length - 1;
      if (places !== 1) {
        throw new Error(`Mutant "${name}": ${file} has ${JSON.stringify(text)} ${places} times`);
      }
      source = source.replace(text, () => instead);
    }
    await Deno.writeTextFile(`${folder}/${file}`, source);
    return await use(await import(`${pathToFileURL(folder)}/${CODE}`));
  });
}

/**
 * Searches the first {@linkcode MUTANT_SEEDS} seeds for one in which the mutant has a violation and the real
 * code has none. Resolves to that seed and the first violation, or to `undefined` if no seed is found.
 */
export function findKillingSeed(
  mutant: Mutant,
): Promise<{ seed: number; violation: string } | undefined> {
  return withMutant(mutant, async (mutated) => {
    for (let seed = 1; seed <= MUTANT_SEEDS; seed++) {
      const [violation] = (await simulate(mutated, seed)).violations;
      if (violation === undefined) continue;
      if ((await simulate(code, seed)).violations.length === 0) return { seed, violation };
    }
  });
}
