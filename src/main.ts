/** Runs one process of the service. Settings come from the environment; see `config.ts`. */

import { readServiceConfig } from "./settings/config.ts";
import { runProgram } from "./life_cycle/run_program.ts";
import { serve } from "./life_cycle/serve.ts";

if (import.meta.main) await runService();

/** Serves until a signal ends the process. */
export function runService(): Promise<never> {
  return runProgram(async () => {
    await serve(readServiceConfig());
    return 0;
  });
}
