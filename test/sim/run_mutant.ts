import { cp } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as code from "./code_under_test.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { simulate } from "./simulate.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** Writes a mutant of the code to a temporary folder, and removes the folder after `use`. */
export async function withMutant<T>(
  { name, file, edits }: Mutant,
  use: (mutated: code.Code) => Promise<T>,
): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "animal-store-mutant-" });
  try {
    for (const path of ["src", "events", "scripts", "test/sim/code_under_test.ts"]) {
      await cp(ROOT + path, `${folder}/${path}`, { recursive: true });
    }
    let source = await Deno.readTextFile(ROOT + file);
    for (const [text, instead] of edits) {
      const places = source.split(text).length - 1;
      if (places !== 1) {
        throw new Error(`Mutant "${name}": ${file} has ${JSON.stringify(text)} ${places} times`);
      }
      source = source.replace(text, () => instead);
    }
    await Deno.writeTextFile(`${folder}/${file}`, source);
    return await use(await import(`${pathToFileURL(folder)}/test/sim/code_under_test.ts`));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
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
