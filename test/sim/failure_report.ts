import { describeFaultProfile } from "./fault_profile.ts";
import type { SimulationResult } from "./simulate.ts";

/** The violations of a failing seed, its fault profiles and the command that repeats it. */
export function failureReport(
  { seed, violations, instances, faultProfiles }: SimulationResult,
): string {
  return [
    `Seed ${seed} failed`,
    ...violations.map((violation) => `  ${violation}`),
    `  instances: ${instances}`,
    ...faultProfiles.flatMap(describeFaultProfile).map((line) => `  ${line}`),
    `To repeat it: deno task sim --seed ${seed} --trace`,
  ].join("\n");
}
