/** Runs the service in production: `deno task start`. Settings come from the environment; see `config.ts`. */

import { readServiceConfig } from "./config.ts";
import { reasonOf } from "./runtime/logger.ts";
import { serve } from "./serve.ts";

const HELP = `
Serves for production.

  deno task start

Settings of the environment:
  PORT      the port (default: 8000)
  HOST      the address to listen on (default: 0.0.0.0)
  KV_PATH   the store: a file, :memory: or an http(s) address (default: .data/pets.sqlite3)

SIGTERM and SIGINT end it when all that was accepted is answered.
Exit codes: 0 told to end, 1 it could not serve, 2 the command was not understood.
`;

if (import.meta.main) {
  const [argument] = Deno.args;
  if (argument === "--help" || argument === "-h") {
    console.log(HELP.trim());
  } else if (argument === undefined) {
    await run();
  } else {
    console.error(
      `error: Unexpected argument ${JSON.stringify(argument)}; --help shows how it is used`,
    );
    Deno.exit(2);
  }
}

async function run(): Promise<void> {
  try {
    await serve(readServiceConfig());
  } catch (error) {
    console.error(`error: ${reasonOf(error)}`);
    Deno.exit(1);
  }
}
