/** A copy of the engine on a real server, with nothing of this project around it. */

import { EngineCopy } from "../support/engine_copy.ts";
import { POSTGRES, PostgresServer } from "../support/postgres_server.ts";
import { testNeeding } from "../support/test_needing.ts";

testNeeding(POSTGRES.need)(
  "A copy of the engine runs the quick start on PostgreSQL",
  async () => {
    await using server = await PostgresServer.start();
    await using copy = await EngineCopy.make();
    await copy.runOnDeno(server.url(await server.createDatabase()));
  },
);
