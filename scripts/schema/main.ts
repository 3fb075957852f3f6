/**
 * Prints the SQL that creates the tables of a store in a PostgreSQL database.
 *
 *     deno task schema [--role NAME] > schema.sql
 */

import { CREATE_SCHEMA, grantTo } from "../../src/store/postgres/schema.ts";
import { EXIT, print, runCommand, UsageError } from "../cli/run_command.ts";

const HELP = `
Prints the SQL that creates the tables of a store in a PostgreSQL database. The service creates them at its
first start. Use this command only if the role of the service must not create tables: run the SQL as a role
that owns the database, and let the service use a role with fewer rights.

  deno task schema [--role NAME] > schema.sql
  psql --single-transaction --file schema.sql postgres://owner@host/database

  --role NAME   also grants that role what the service and every command need

Exit codes: 0 done, 2 the command has wrong arguments.
`;

await runCommand({
  help: HELP,
  options: { role: { type: "string" } },
  async run({ role }, positionals) {
    if (positionals.length > 0) {
      throw new UsageError(`Unexpected argument ${JSON.stringify(positionals[0])}`);
    }
    if (role === "") throw new UsageError("--role takes the name of a role");
    await print(CREATE_SCHEMA + (role === undefined ? "" : grantTo(role)));
    return EXIT.done;
  },
});
