/**
 * Runs the simulator.
 *
 *     deno task sim [--seeds N] [--from S] [--seed S [--trace]] [--mutants]
 */

import { parseArgs } from "node:util";
import { loadCode } from "./code.ts";
import { findKillingSeed } from "./find_killing_seed.ts";
import { MUTANT_SEEDS, MUTANTS } from "./mutants.ts";
import { type Outcome, simulate } from "./simulation.ts";

const HELP = `
Runs the real service in worlds of its own, where time, order, chance and faults come from a seed.

  deno task sim [--seeds N] [--from S]   lives through N seeds (default: 1000), from S on (default: 1)
  deno task sim --seed S [--trace]       lives through one seed again, exactly; --trace shows all of it
  deno task sim --mutants                shows that faults put into the code on purpose are found

Exit codes: 0 all was well, 1 it was not, 2 the command could not run.
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
  if (values.mutants) return await killMutants();
  if (values.seed === undefined) {
    return await run(count(values.from ?? "1"), count(values.seeds ?? "1000"));
  }
  const onTrace = values.trace ? (line: string) => console.log(line) : undefined;
  const outcome = await simulate(await loadCode(), count(values.seed), onTrace);
  tell(outcome);
  console.log(
    `${outcome.requests} requests, ${outcome.events} events, ${outcome.steps} steps, history ${outcome.digest}`,
  );
  return outcome.violations.length === 0;
}

async function run(first: number, seeds: number): Promise<boolean> {
  const code = await loadCode();
  const sums = { failed: 0, requests: 0, acknowledged: 0, events: 0, steps: 0 };
  const start = performance.now();
  for (let done = 1; done <= seeds; done++) {
    const outcome = await simulate(code, first + done - 1);
    tell(outcome);
    if (outcome.violations.length > 0) sums.failed++;
    for (const name of ["requests", "acknowledged", "events", "steps"] as const) {
      sums[name] += outcome[name];
    }
    if (done % PROGRESS_SEEDS === 0) console.error(`${done} seeds`);
  }
  const seconds = (performance.now() - start) / 1_000;
  console.log(
    `${seeds} seeds from ${first}, ${sums.failed} with violations; ${sums.requests} requests, ` +
      `${sums.acknowledged} pets acknowledged, ${sums.events} events, ${sums.steps} steps; ` +
      `${seconds.toFixed(0)} s`,
  );
  return sums.failed === 0;
}

/** Prints the violations and the command that reproduces them. */
function tell({ seed, violations }: Outcome): void {
  if (violations.length === 0) return;
  console.log(`seed ${seed} fails; to see it again: deno task sim --seed ${seed}`);
  for (const violation of violations) console.log(`  ${violation}`);
}

async function killMutants(): Promise<boolean> {
  let survivors = 0;
  for (const mutant of MUTANTS) {
    const kill = await findKillingSeed(mutant);
    if (kill === undefined) survivors++;
    const fate = kill === undefined
      ? `SURVIVES ${MUTANT_SEEDS} seeds`
      : `found by seed ${String(kill.seed).padStart(3)}`;
    console.log(`${fate}: ${mutant.name}`);
    if (kill !== undefined) console.log(`  ${kill.violation.slice(0, 160)}`);
  }
  console.log(`${MUTANTS.length - survivors} of ${MUTANTS.length} mutants found`);
  return survivors === 0;
}

function count(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new Error(`A number from 1 on is needed, not ${JSON.stringify(text)}`);
}
