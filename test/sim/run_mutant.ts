import { cp } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { ROOT, withProjectCopy } from "../support/with_project_copy.ts";
import * as code from "./code_under_test.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { simulate } from "./simulate.ts";

/** Where a copy of the code has its copy of the file that imports it. */
const CODE = "test/sim/code_under_test.ts";

/** Runs `use` with a mutant of the code, in a temporary folder. */
export function withMutant<T>(mutant: Mutant, use: (mutated: code.Code) => Promise<T>): Promise<T> {
  return withMutatedProject(mutant, async (folder) => {
    await cp(ROOT + CODE, `${folder}/${CODE}`);
    return await use(await import(`${pathToFileURL(folder)}/${CODE}`));
  });
}

/** Runs `use` with a copy of the project that has the fault. */
export function withMutatedProject<T>(
  { name, file, edits }: Mutant,
  use: (project: string) => Promise<T>,
): Promise<T> {
  return withProjectCopy(async (folder) => {
    let source = await Deno.readTextFile(ROOT + file);
    for (const [text, instead] of edits) {
      const places = source.split(text).length - 1;
      if (places !== 1) {
        throw new Error(`Mutant "${name}": ${file} has ${JSON.stringify(text)} ${places} times`);
      }
      source = source.replace(text, () => instead);
    }
    await Deno.writeTextFile(`${folder}/${file}`, source);
    return await use(folder);
  });
}

/**
 * Tries the seed that found the mutant last, then searches the first {@linkcode MUTANT_SEEDS}. Resolves to the seed
 * that finds it, with the first violation, or to `undefined`. Rejects if the real code has a violation with that seed.
 */
export function findKillingSeed(
  mutant: Mutant,
): Promise<{ seed: number; violation: string } | undefined> {
  return withMutant(mutant, async (mutated) => {
    const all = Array.from({ length: MUTANT_SEEDS }, (_, index) => index + 1);
    for (const seed of mutant.seed === undefined ? all : [mutant.seed, ...all]) {
      const [violation] = (await simulate(mutated, seed)).violations;
      if (violation === undefined) continue;
      await expectSound(seed);
      return { seed, violation };
    }
  });
}

const sound = new Set<number>();

/** Rejects if the real code has a violation with that seed. Runs each seed once. */
export async function expectSound(seed: number): Promise<void> {
  if (sound.has(seed)) return;
  const { violations } = await simulate(code, seed);
  if (violations.length > 0) throw new Error(`deno task sim --seed ${seed}: ${violations}`);
  sound.add(seed);
}
