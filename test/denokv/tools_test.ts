import { DENOKV } from "../support/denokv_server.ts";
import { testTools } from "../support/test_tools.ts";

testTools(DENOKV);
