/** Stores of real processes, named by a path or by the URL of a database. */

import { systemRuntime } from "eventstore-less/startup";
import { APPLICATION } from "../../src/application.ts";
import { GUARD_KEYS } from "../../src/eventstore_less/keyspace.ts";
import { acceptLog } from "../../src/eventstore_less/log/accept_store.ts";
import { createService, type Service } from "../../src/service.ts";
import { type OpenOptions, openStore } from "../../src/eventstore_less/store/open_store.ts";
import type { StoreLocation } from "../../src/eventstore_less/store/store_location.ts";
import {
  parseDatabaseUrl,
  type PostgresSettings,
} from "../../src/eventstore_less/store/postgres/database_url.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";

/** The variables of a process on a store. Most tests begin with a new one, so a service may make it. */
export function storeVariables(name: string): Record<string, string> {
  return { [isDatabase(name) ? "DATABASE_URL" : "KV_PATH"]: name, NEW_STORE: "make" };
}

/** Opens a store as a tool does. Deno's client reads the token of a server from the environment. */
export function openRealStore(name: string, env: Record<string, string> = {}): Promise<Store> {
  for (const [variable, text] of Object.entries(env)) Deno.env.set(variable, text);
  const options: OpenOptions = {
    program: APPLICATION.dashedName,
    create: true,
    accept: (store) => acceptLog(APPLICATION, store),
    guardKeys: GUARD_KEYS,
    runtime: systemRuntime,
  };
  return openStore(locationOf(name), options);
}

function locationOf(name: string): StoreLocation {
  if (isDatabase(name)) return { kind: "postgres", settings: settingsOf(name) };
  if (name.startsWith("http:")) return { kind: "kv_connect", address: name };
  return { kind: "file", path: name, isDefault: false };
}

export function settingsOf(url: string): PostgresSettings {
  return { ...parseDatabaseUrl(url), passfile: undefined, strictReads: false };
}

/** Opens a store during `use`, with an instance of a command. */
export async function useRealStore<T>(
  name: string,
  use: (service: Service) => Promise<T>,
  env?: Record<string, string>,
): Promise<T> {
  const store = await openRealStore(name, env);
  const service = createService({ store, runtime: systemRuntime, report: () => {} });
  try {
    return await use(service);
  } finally {
    await service.appender.drain();
    service.store.close();
  }
}

function isDatabase(name: string): boolean {
  return /^postgres(ql)?:/.test(name);
}
