import { POSTGRES } from "../support/postgres_server.ts";
import { testCatalogueLoad } from "../support/test_catalogue_load.ts";

// A cut ends both connections of an instance, and all calls on them.
testCatalogueLoad(POSTGRES, 0.01);
