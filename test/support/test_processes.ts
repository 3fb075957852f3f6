import { testPermitted } from "./test_permitted.ts";

/** Declares tests that start processes, which are ignored without the permissions for that. */
export const test = testPermitted("env", "net", "read", "run", "write");
