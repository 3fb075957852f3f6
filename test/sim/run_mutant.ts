import { pathToFileURL } from "node:url";
import { ROOT, withProjectCopy } from "../support/with_project_copy.ts";
import * as code from "./code_under_test.ts";
import { type Mutant, MUTANT_SEEDS } from "./mutants.ts";
import { type Patch, patched } from "./patch.ts";
import { simulate } from "./simulate.ts";

export function withMutatedProject<T>(
  patch: Patch,
  use: (project: string) => Promise<T>,
): Promise<T> {
  return withProjectCopy(async (folder) => {
    const source = await Deno.readTextFile(ROOT + patch.file);
    await Deno.writeTextFile(`${folder}/${patch.file}`, patched(patch, source));
    return await use(folder);
  });
}

/**
 * Tries the seed that found the mutant last, for which {@linkcode expectSound} has a test of its own, then searches the
 * first {@linkcode MUTANT_SEEDS}. Resolves to the seed that finds it, with the first violation, or to `undefined`.
 */
export async function findKillingSeed(
  mutant: Mutant,
): Promise<{ seed: number; violation: string } | undefined> {
  const faulty = await importMutant(mutant);
  for (let seed = mutant.seed ?? 1, tried = 0; tried <= MUTANT_SEEDS; seed = ++tried) {
    const violation = await firstViolation(faulty, seed);
    if (violation === undefined) continue;
    if (seed !== mutant.seed) await expectSound(seed);
    return { seed, violation };
  }
}

/** Imports the code with the fault. */
export async function importMutant(mutant: Mutant): Promise<code.Code> {
  return mutant.kind === "port" ? mutant.inject(code) : await importPatched(mutant.patch);
}

/** Simulates a seed until its first violation; resolves to `undefined` if there is none. */
export async function firstViolation(
  tested: code.Code,
  seed: number,
): Promise<string | undefined> {
  const { violations } = await simulate(tested, seed, { stopsAtViolation: true });
  return violations[0];
}

/**
 * Rejects if the real code has a violation with that seed. Resolves to the number of events that share a commit with an
 * earlier one of their subject.
 */
export async function expectSound(seed: number): Promise<number> {
  const { violations, shared } = await simulate(code, seed);
  if (violations.length > 0) throw new Error(`deno task sim --seed ${seed}: ${violations}`);
  return shared;
}

const CODE = new URL("code_under_test.ts", import.meta.url).href;

const SPECIFIER = /"((?:\.{1,2}|eventstore-less)(?:\/[^"]+)?)"/g;

/** The sources of the code under test and of what it imports, and the modules that import each of them, by URL. */
const sources = new Map<string, string>();
const importers = new Map<string, string[]>();

/** Imports the code with the fault: copies of the faulty module and all that import it, and the real others. */
async function importPatched(patch: Patch): Promise<code.Code> {
  if (sources.size === 0) await readSources(CODE);
  const folder = await Deno.makeTempDir();
  try {
    const faulty = pathToFileURL(ROOT + patch.file).href;
    const copies = new Map<string, string>();
    for (const [index, url] of dependentsOf(faulty).entries()) {
      copies.set(url, `${pathToFileURL(folder)}/${index}.ts`);
    }
    for (const [url, copy] of copies) {
      const source = url === faulty ? patched(patch, sources.get(url)!) : sources.get(url)!;
      const text = source.replace(SPECIFIER, (_, path) => {
        const href = resolved(path, url);
        return JSON.stringify(copies.get(href) ?? href);
      });
      await Deno.writeTextFile(new URL(copy), text);
    }
    return await import(copies.get(CODE)!);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function readSources(url: string): Promise<void> {
  sources.set(url, await Deno.readTextFile(new URL(url)));
  for (const [, path] of sources.get(url)!.matchAll(SPECIFIER)) {
    const href = resolved(path, url);
    importers.getOrInsertComputed(href, () => []).push(url);
    if (href.endsWith(".ts") && !sources.has(href)) await readSources(href);
  }
}

/** The URL of a specifier in the module at `url`. */
function resolved(specifier: string, url: string): string {
  return specifier.startsWith(".") ? new URL(specifier, url).href : import.meta.resolve(specifier);
}

/** The URLs of a module and of all that import it, directly or not. */
function dependentsOf(url: string): string[] {
  const found = new Set([url]);
  for (const each of found) {
    for (const importer of importers.get(each) ?? []) found.add(importer);
  }
  return [...found];
}
