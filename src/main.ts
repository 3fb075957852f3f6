/** Runs the service in production: `deno task start`. Settings come from the environment; see `config.ts`. */

import process from "node:process";
import { readServiceConfig } from "./settings/config.ts";
import { exitAfterLog } from "./life_cycle/exit.ts";
import { reasonOf } from "./runtime/logger.ts";
import { writeError } from "./runtime/stderr_logger.ts";
import { serve } from "./life_cycle/serve.ts";

if (import.meta.main) {
  const argument = process.argv[2];
  if (argument !== undefined) {
    writeError(`error: Unexpected argument ${JSON.stringify(argument)}; see --help`);
    await exitAfterLog(2);
  }
  try {
    await serve(readServiceConfig());
  } catch (error) {
    writeError(`error: ${reasonOf(error)}`);
    await exitAfterLog(2);
  }
  await exitAfterLog(0);
}
