/**
 * Runs many rounds of a fail-over; the tests run a few.
 *
 *     deno task test:failover [ROUNDS]
 */

import { findPostgres } from "../support/find_postgres.ts";
import { POSTGRES_VARIABLE } from "../support/postgres_server.ts";
import { runFailover } from "./failover.ts";

const programs = await findPostgres();
if (programs === undefined) {
  console.error("error: PostgreSQL is not installed");
  Deno.exit(2);
}
Deno.env.set(POSTGRES_VARIABLE, programs);
console.log(await runFailover(Number(Deno.args[0] ?? 10)));
