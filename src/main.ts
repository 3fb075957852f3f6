/** Runs the service in production: `deno task start`. Settings come from the environment; see `config.ts`. */

import { readServiceConfig } from "./settings/config.ts";
import { exit } from "./life_cycle/exit.ts";
import { reasonOf } from "./runtime/logger.ts";
import { writeError } from "./runtime/stderr_logger.ts";
import { serve } from "./life_cycle/serve.ts";
import { serviceVariables } from "./settings/variables.ts";
import { VERSION } from "./settings/version.ts";

const HELP = `
Runs the service for production.

  deno task start

${serviceVariables()}

On SIGTERM and SIGINT, the service finishes accepted requests and ends.
Exit codes: 0 ended by a signal, 1 the service could not run, 2 the command has wrong arguments.
`;

if (import.meta.main) {
  const [argument] = Deno.args;
  if (argument === "--help" || argument === "-h") {
    console.log(HELP.trim());
  } else if (argument === "--version") {
    console.log(`animal-store ${VERSION}`);
  } else if (argument === undefined) {
    await run();
  } else {
    writeError(`error: Unexpected argument ${JSON.stringify(argument)}; see --help`);
    exit(2);
  }
  exit(0);
}

async function run(): Promise<void> {
  try {
    await serve(readServiceConfig());
  } catch (error) {
    writeError(`error: ${reasonOf(error)}`);
    exit(1);
  }
}
