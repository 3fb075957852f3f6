/** The tests of the interface, on services whose store is PostgreSQL. */

import { openPostgresStore, POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { TEST_STORES } from "../support/test_service.ts";

const server = serverOfFile();

if (!POSTGRES.ignore) {
  TEST_STORES.open = () => openPostgresStore(server());
  await import("../http/interface_test.ts");
}
