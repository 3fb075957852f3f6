import type { Runtime } from "../../runtime/runtime.ts";
import type { PostgresSettings } from "./database_url.ts";
import { closeBoth, connectToPrimary } from "./primary.ts";
import { type Program, schemaNameOf } from "./program.ts";

/** What an operator asks about the database of a store. */
export interface DatabaseFacts {
  /** The size of all tables and indexes of the store, in bytes. */
  bytes: number;
  /** The setting `synchronous_standby_names` of the primary; empty if commits wait for no standby. */
  standbyNames: string;
}

/** Asks the primary of a database. Rejects as {@linkcode connectToPrimary} does. */
export async function readDatabaseFacts(
  settings: PostgresSettings & Program,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<DatabaseFacts> {
  const primary = await connectToPrimary(settings, runtime, signal);
  try {
    const [[bytes, names]] = await primary.reads.read(factsOf(schemaNameOf(settings.program)));
    return { bytes: Number(bytes), standbyNames: names!.trim() };
  } finally {
    closeBoth(primary);
  }
}

const factsOf = (schema: string) => `
  select
    (select pg_catalog.sum(pg_catalog.pg_total_relation_size(relation.oid))
      from pg_catalog.pg_class as relation
      join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
      where namespace.nspname = '${schema}' and relation.relkind = 'r'),
    pg_catalog.current_setting('synchronous_standby_names')`;
