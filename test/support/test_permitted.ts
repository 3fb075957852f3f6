import { permitted } from "./permitted.ts";
import { testIf } from "./test_if.ts";

/** Declares tests that are ignored without all of these permissions. */
export const testPermitted = (...names: Deno.PermissionName[]) => testIf(permitted(...names));
