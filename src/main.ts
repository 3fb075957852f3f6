/** Runs the service in production: `deno task start`. Settings come from the environment; see `config.ts`. */

import { readServiceConfig } from "./config.ts";
import { reasonOf } from "./runtime/logger.ts";
import { serve } from "./serve.ts";

const HELP = `
Runs the service for production.

  deno task start

Environment variables:
  PORT                   the port; 0 takes a free one and logs it (default: 8000)
  HOST                   the address to listen on (default: 0.0.0.0)
  KV_PATH                the store: a file, :memory: or an http(s) address (default: .data/pets.sqlite3)
  DENO_KV_ACCESS_TOKEN   the access token, if KV_PATH is an address
  CORS_ORIGINS           origins whose scripts may call the API from a browser, separated by commas
  PUBLIC_URL             the address for clients, used in links and in the API description; its path
                         ends in /v1 (default: the address that the client called)
  STAGING_URL            the address of the staging service, shown in the API description
  CONTACT                a mail or http(s) address for questions, shown in the API description
  RATE_LIMIT             requests a second that each API key may send
  OTEL_DENO              true turns on OpenTelemetry

On SIGTERM and SIGINT, the service finishes accepted requests and ends.
Exit codes: 0 ended by a signal, 1 the service could not run, 2 the command has wrong arguments.
`;

if (import.meta.main) {
  const [argument] = Deno.args;
  if (argument === "--help" || argument === "-h") {
    console.log(HELP.trim());
  } else if (argument === undefined) {
    await run();
  } else {
    console.error(
      `error: Unexpected argument ${JSON.stringify(argument)}; see --help`,
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
