import { DENOKV } from "../support/denokv_server.ts";
import { testCatalogueLoad } from "../support/test_catalogue_load.ts";

testCatalogueLoad(DENOKV, 0.05);
