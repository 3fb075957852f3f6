import { POSTGRES } from "../support/postgres_server.ts";
import { testStoreServer } from "../support/test_store_server.ts";

testStoreServer(POSTGRES);
