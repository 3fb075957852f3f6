import { DENOKV } from "../support/denokv_server.ts";
import { testStoreServer } from "../support/test_store_server.ts";

testStoreServer(DENOKV);
