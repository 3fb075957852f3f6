import { POSTGRES } from "../support/postgres_server.ts";
import { testTools } from "../support/test_tools.ts";

testTools(POSTGRES);
