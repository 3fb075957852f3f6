/** The tests of the interface, on services whose store is PostgreSQL. */

import { openDatabase, POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { TEST_STORES } from "../support/test_service.ts";

const server = serverOfFile();

if (!POSTGRES.ignore) {
  TEST_STORES.open = async () => openDatabase(server().url(await server().createDatabase()));
  await import("../http/interface_test.ts");
}
