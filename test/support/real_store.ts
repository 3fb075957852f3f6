/** Stores of real processes, named by a path or by the URL of a database. */

import { GUARD_KEYS } from "../../src/keyspace.ts";
import { acceptLog } from "../../src/log/accept_store.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { openStore } from "../../src/store/open_store.ts";
import { parseDatabaseUrl } from "../../src/store/postgres/database_url.ts";
import type { Store } from "../../src/store/store.ts";

/** The variables that make a program use a store. */
export function storeVariables(name: string): Record<string, string> {
  return isDatabase(name) ? { DATABASE_URL: name } : { KV_PATH: name };
}

/** Opens a store as a tool does. Deno's client reads the token of a server from the environment. */
export function openRealStore(name: string, env: Record<string, string> = {}): Promise<Store> {
  for (const [variable, text] of Object.entries(env)) Deno.env.set(variable, text);
  const location = isDatabase(name)
    ? {
      kind: "postgres" as const,
      settings: { ...parseDatabaseUrl(name), passfile: undefined, strictReads: false },
    }
    : name.startsWith("http:")
    ? { kind: "kv_connect" as const, address: name }
    : { kind: "file" as const, path: name, isDefault: false };
  return openStore(location, {
    create: true,
    accept: acceptLog,
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
  });
}

function isDatabase(name: string): boolean {
  return name.startsWith("postgres:");
}
