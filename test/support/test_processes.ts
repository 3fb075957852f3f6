import { permitted } from "./permitted.ts";
import { testIf } from "./test_if.ts";

/** Declares tests that start processes, which are ignored without the permissions for that. */
export const test = testIf(permitted("env", "net", "read", "run", "write"));
