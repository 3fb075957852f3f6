/**
 * Runs the tests that need a real PostgreSQL server. If it is not installed, this prints one line and exits
 * with 0.
 *
 *     deno task test:postgres [FILE…]
 */

import { findPostgres } from "../support/find_postgres.ts";
import { POSTGRES_VARIABLE } from "../support/postgres_server.ts";

const FOLDER = new URL("./", import.meta.url).pathname;

const programs = await findPostgres();
if (programs === undefined) {
  console.log("Left out the tests against PostgreSQL: it is not installed");
  Deno.exit(0);
}
const files = Deno.args.length > 0 ? Deno.args : [FOLDER];
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["test", "--allow-all", ...files],
  env: { [POSTGRES_VARIABLE]: programs },
}).spawn().status;
Deno.exit(code);
