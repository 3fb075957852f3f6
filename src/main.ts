/** Runs one process of the service. Settings come from the environment; see `config.ts`. */

import { readServiceConfig } from "./settings/config.ts";
import { runProgram } from "./life_cycle/run_program.ts";
import { serve } from "./life_cycle/serve.ts";

await runProgram(async () => {
  await serve(readServiceConfig());
  return 0;
});
