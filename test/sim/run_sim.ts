/**
 * Runs the simulator. `simulate.ts` explains it.
 *
 *     deno task sim [--seeds N] [--from S] [--seed S [--trace]] [--mutants]
 */

import { parseArgs } from "node:util";
import { failureReport } from "./failure_report.ts";
import { findKillingSeed } from "./find_killing_seed.ts";
import { loadCode } from "./load_code.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { simulate } from "./simulate.ts";

const HELP = `
Runs the real service on simulated nodes and a simulated store. A seed decides time, order and faults.

  deno task sim [--seeds N] [--from S]   run N seeds (default: 1000), starting with S (default: 1)
  deno task sim --seed S [--trace]       repeat one seed exactly; --trace prints every event
  deno task sim --mutants                check that the simulator finds known faults in the code

A failing seed prints its violations, its fault profiles and the command that repeats it.
Exit codes: 0 no violation, 1 a violation or a mutant that was not found, 2 it could not run.
`;

/** Number of seeds between two progress messages. */
const PROGRESS_SEEDS = 1_000;

const options = {
  seeds: { type: "string" },
  from: { type: "string" },
  seed: { type: "string" },
  trace: { type: "boolean" },
  mutants: { type: "boolean" },
  help: { type: "boolean" },
} as const;

try {
  Deno.exit(await main() ? 0 : 1);
} catch (error) {
  console.error(`error: ${(error as Error).message}`);
  Deno.exit(2);
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({ options });
  if (values.help) return console.log(HELP.trim()), true;
  if (values.mutants) return await runMutants();
  if (values.seed !== undefined) return await runSeed(parseCount(values.seed), values.trace);
  return await runSeeds(parseCount(values.from ?? "1"), parseCount(values.seeds ?? "1000"));
}

async function runSeed(seed: number, isTraced = false): Promise<boolean> {
  const onTrace = isTraced ? (line: string) => console.log(line) : undefined;
  const result = await simulate(await loadCode(), seed, onTrace);
  const { violations, requests, events, steps, digest } = result;
  if (violations.length > 0) console.log(failureReport(result));
  console.log(`${requests} requests, ${events} events, ${steps} steps, trace ${digest}`);
  return violations.length === 0;
}

async function runSeeds(first: number, seeds: number): Promise<boolean> {
  const code = await loadCode();
  const sums = { failed: 0, requests: 0, acknowledged: 0, events: 0, steps: 0 };
  const start = performance.now();
  for (let done = 1; done <= seeds; done++) {
    const result = await simulate(code, first + done - 1);
    if (result.violations.length > 0) {
      console.log(failureReport(result));
      sums.failed++;
    }
    for (const name of ["requests", "acknowledged", "events", "steps"] as const) {
      sums[name] += result[name];
    }
    if (done % PROGRESS_SEEDS === 0) console.error(`${done} seeds`);
  }
  const seconds = (performance.now() - start) / 1_000;
  console.log(
    `${seeds} seeds from ${first}: ${sums.failed} failed; ${sums.requests} requests, ` +
      `${sums.acknowledged} pets acknowledged, ${sums.events} events, ${sums.steps} steps; ` +
      `${seconds.toFixed(0)} s`,
  );
  return sums.failed === 0;
}

async function runMutants(): Promise<boolean> {
  let found = 0;
  for (const mutant of MUTANTS) {
    const kill = await findKillingSeed(mutant);
    if (kill === undefined) {
      console.log(`not found in ${MUTANT_SEEDS} seeds: ${mutant.name}`);
      continue;
    }
    found++;
    console.log(`found by seed ${String(kill.seed).padStart(4)}: ${mutant.name}`);
    console.log(`  ${kill.violation.slice(0, 160)}`);
  }
  console.log(`${found} of ${MUTANTS.length} mutants found`);
  return found === MUTANTS.length;
}

function parseCount(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`Expected an integer from 1 to 999999999, not ${JSON.stringify(text)}`);
}
