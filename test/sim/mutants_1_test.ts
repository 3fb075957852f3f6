import { testMutants } from "./test_mutants.ts";

testMutants(0);
