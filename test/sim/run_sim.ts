/** Runs the simulator. `simulate.ts` explains it. */

import { parseArgs } from "node:util";
import * as code from "./code_under_test.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { findKillingSeed } from "./run_mutant.ts";
import { simulate, type SimulationResult } from "./simulate.ts";

const HELP = `
Runs the real service on simulated nodes and a simulated store. A seed decides time, order and faults.

  deno task sim [--seeds N] [--from S]   run N seeds (default: 1000), starting with S (default: 1)
  deno task sim --seed S [--trace]       repeat one seed exactly; --trace prints every event
  deno task sim --mutants [NAME]         check that the simulator finds known faults in the code, and
                                         keep the seeds that find them

A failing seed prints its violations, its fault profiles and the command that repeats it.
Exit codes: 0 no violation, 1 a violation or a mutant that was not found, 2 it could not run.
`;

const SEEDS_FILE = new URL("mutant_seeds.json", import.meta.url);

try {
  Deno.exit(await main() ? 0 : 1);
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  Deno.exit(2);
}

async function main(): Promise<boolean> {
  const { values, positionals: [name = ""] } = parseArgs({
    options: {
      seeds: { type: "string", default: "1000" },
      from: { type: "string", default: "1" },
      seed: { type: "string" },
      trace: { type: "boolean" },
      mutants: { type: "boolean" },
      help: { type: "boolean" },
    },
    allowPositionals: true,
  });
  if (values.help) return console.log(HELP.trim()), true;
  if (values.mutants) return await runMutants(name);
  if (values.seed !== undefined) return await runSeeds(parseCount(values.seed), 1, values.trace);
  return await runSeeds(parseCount(values.from), parseCount(values.seeds));
}

async function runSeeds(first: number, seeds: number, isTraced = false): Promise<boolean> {
  const onTrace = isTraced ? console.log : undefined;
  const sums = { failed: 0, requests: 0, events: 0 };
  const start = performance.now();
  for (let seed = first; seed < first + seeds; seed++) {
    const result = await simulate(code, seed, { onTrace });
    if (result.violations.length > 0) {
      reportFailure(result);
      sums.failed++;
    }
    sums.requests += result.requests;
    sums.events += result.events;
  }
  const seconds = (performance.now() - start) / 1_000;
  console.log(
    `${seeds} seeds from ${first}: ${sums.failed} failed; ${sums.requests} requests, ` +
      `${sums.events} events; ${seconds.toFixed(0)} s`,
  );
  return sums.failed === 0;
}

function reportFailure({ seed, violations, instances, faultProfiles }: SimulationResult): void {
  console.log(`Seed ${seed} failed with ${instances} instances, and these fault profiles:`);
  console.log(Deno.inspect(faultProfiles, { depth: 9 }));
  for (const violation of violations.slice(0, 20)) console.log(`  ${violation}`);
  console.log(`To repeat it: deno task sim --seed ${seed} --trace`);
}

async function runMutants(text: string): Promise<boolean> {
  const mutants = MUTANTS.filter(({ name }) => name.includes(text));
  const seeds = Object.fromEntries(MUTANTS.map(({ name, seed }) => [name, seed]));
  let found = 0;
  for (const mutant of mutants) {
    const kill = await findKillingSeed(mutant);
    if (kill === undefined) {
      console.log(`not found in ${MUTANT_SEEDS} seeds: ${mutant.name}`);
      continue;
    }
    found++;
    seeds[mutant.name] = kill.seed;
    console.log(`found by seed ${String(kill.seed).padStart(4)}: ${mutant.name}`);
    console.log(`  ${kill.violation.slice(0, 160)}`);
    // At once, because a search of all takes long.
    await Deno.writeTextFile(SEEDS_FILE, `${JSON.stringify(seeds, null, 2)}\n`);
  }
  console.log(`${found} of ${mutants.length} mutants found`);
  return found === mutants.length && found > 0;
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`Expected an integer from 1 to 999999999, not ${JSON.stringify(text)}`);
}
