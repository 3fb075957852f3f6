import { systemRuntime } from "../runtime/system_runtime.ts";
import { statOf } from "../store/sqlite/store_file.ts";
import { storeLocationOf } from "./open_to_read.ts";
import type { StoreAt } from "./tool_store.ts";

/** Time limit of the connection to a database. */
const CONNECT_LIMIT_MS = 3_000;

/** What is known about a store beside its records. */
export interface StoreFacts {
  /** The size of its file with its write-ahead log, or of its tables; `undefined` if it is not known. */
  bytes?: number;
  /** Of PostgreSQL, the setting `synchronous_standby_names`; empty if commits wait for no standby. */
  standbyNames?: string;
}

/** Ends of the names of the files with the data of a store. */
const FILES = ["", "-wal"];

/** Reads the facts about a store at a location. */
export async function storeFacts({ application, location: named }: StoreAt): Promise<StoreFacts> {
  const location = storeLocationOf({ application, location: named });
  if (location.kind === "file") return { bytes: await bytesOfFiles(location.path) };
  if (location.kind !== "postgres") return {};
  const { readDatabaseFacts } = await import("../store/postgres/read_database_facts.ts");
  const settings = { ...location.settings, program: application.dashedName };
  const signal = AbortSignal.timeout(CONNECT_LIMIT_MS);
  return await readDatabaseFacts(settings, systemRuntime, signal);
}

async function bytesOfFiles(path: string): Promise<number> {
  const found = await Promise.all(FILES.map((end) => statOf(path + end)));
  return found.reduce((sum, file) => sum + (file?.size ?? 0), 0);
}
