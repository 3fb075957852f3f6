/** The tests of the interface, on services whose store is PostgreSQL. */

import { openDatabase, POSTGRES, serverOfFile } from "../support/postgres_server.ts";
import { WAYS } from "../support/test_each_way.ts";
import { TEST_STORES } from "../support/test_service.ts";

const server = serverOfFile();

TEST_STORES.open = async () => openDatabase(server().url(await server().createDatabase()));
for (const { needs } of WAYS) needs.push(POSTGRES.need);
await import("../http/interface_test.ts");
await import("../categories/categories_test.ts");
