/** The tables of a store on PostgreSQL, in a schema of their own. */

import { words } from "../../words.ts";
import { type Program, schemaNameOf } from "./program.ts";
import { noStoreReason, olderFormatReason, StoreRefusedError } from "../store_errors.ts";
import type { Connection } from "./connection.ts";

/** The version of the tables, named after the format of the store that last changed them. */
const SCHEMA_VERSION = 6;

/**
 * A record without a value counts as missing: earlier versions stored placeholders, to lock them, and a commit that
 * deletes a missing guard leaves one. The default compression would cost the server half as much processor time again (measured), so without lz4 there is none. PostgreSQL 13 cannot
 * even parse it, which only `execute` can catch.
 *
 * The head is the only row of a table of its own; its version is 0 while it is missing. Every commit replaces it, and
 * while a transaction with an old snapshot is open, the server keeps each replaced row. Under a key that stays the same,
 * every read and commit would look at all of them. But an index over the versions has the current row at its end.
 */
export function createSchema({ program }: Program): string {
  const schema = schemaNameOf(program);
  return `set search_path to pg_catalog, pg_temp;
create schema if not exists ${schema};
create table ${schema}.schema_version (program pg_catalog.text primary key, version integer not null);
create sequence ${schema}.versions as bigint cache 1;
create table ${schema}.records (
  key pg_catalog.bytea primary key,
  version bigint not null,
  value pg_catalog.bytea
) with (fillfactor = 90);
create table ${schema}.head (version bigint primary key, value pg_catalog.bytea);
insert into ${schema}.head (version) values (0);
do $$ begin
  execute 'alter table ${schema}.records alter column value set compression lz4';
exception when feature_not_supported or syntax_error then
  alter table ${schema}.records alter column value set storage external;
end $$;
insert into ${schema}.schema_version values ('${program}', ${SCHEMA_VERSION});
`;
}

/** Grants a role what the service and every command need, and no more. */
export function grantTo({ program }: Program, role: string): string {
  const schema = schemaNameOf(program);
  const name = `"${role.replaceAll('"', '""')}"`;
  return `grant usage on schema ${schema} to ${name};
grant select on ${schema}.schema_version to ${name};
grant select, insert, update, delete on ${schema}.records to ${name};
grant select, update on ${schema}.head to ${name};
grant usage on sequence ${schema}.versions to ${name};
`;
}

/** Instances that start at the same time create the schema one after the other. */
const LOCK_SCHEMA = "select pg_catalog.pg_advisory_xact_lock(7310867414390862700);";

/** All tables except those that belong to the system or an extension; ours come first. */
const listTables = (schema: string) => `
  select namespace.nspname, relation.relname
  from pg_catalog.pg_class as relation
  join pg_catalog.pg_namespace as namespace on namespace.oid = relation.relnamespace
  where relation.relkind in ('r', 'p') and namespace.nspname !~ '^pg_'
    and namespace.nspname <> 'information_schema'
    and not exists (select from pg_catalog.pg_depend where classid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and objid = relation.oid and deptype = 'e')
  order by namespace.nspname <> '${schema}', relation.relname <> 'schema_version', 1, 2
  limit 1`;

/**
 * Columns: the version of the tables, and whether the role has the rights of {@linkcode grantTo}. Tables of another
 * version may lack one.
 */
const readState = (schema: string, program: string) => `
  select version, pg_catalog.has_sequence_privilege('${schema}.versions', 'usage') and (
    select pg_catalog.bool_and(coalesce(
      pg_catalog.has_table_privilege(pg_catalog.to_regclass(name)::pg_catalog.oid, needed), false))
    from (values
      ('${schema}.records', 'select'), ('${schema}.records', 'insert'),
      ('${schema}.records', 'update'), ('${schema}.records', 'delete'),
      ('${schema}.head', 'select'), ('${schema}.head', 'update')
    ) as rights (name, needed))
  from ${schema}.schema_version where program = '${program}'`;

/** Resolves to whether it created the schema. Rejects with `StoreRefusedError` if the schema cannot be used. */
export async function prepareSchema(
  connection: Connection,
  { program }: Program,
  create: boolean,
): Promise<boolean> {
  if (await isPrepared(connection, program)) return false;
  const schema = schemaNameOf(program);
  if (!create) refuse(noStoreReason("there is no log in it yet"));
  try {
    await connection.write(LOCK_SCHEMA + createSchema({ program }));
    return true;
  } catch (error) {
    // Another instance may have created it meanwhile.
    if (await isPrepared(connection, program)) return false;
    if (!(error instanceof StoreRefusedError)) throw error;
    const lacksRight = `the role may not create the schema ${schema}`;
    refuse(`${lacksRight}; see ${words().schema}: ${error.message}`);
  }
}

/** Resolves to whether the schema exists; then it can be used. */
async function isPrepared(connection: Connection, program: string): Promise<boolean> {
  const schema = schemaNameOf(program);
  const [names] = await connection.read(listTables(schema));
  if (names === undefined) return false;
  const table = names.join(".");
  if (table !== `${schema}.schema_version`) {
    refuse(
      `it holds tables of another program, such as ${table}; use another database, or create the ` +
        `schema ${schema} in it (${words().schema})`,
    );
  }
  const advice = `see ${words().grants}`;
  const lacksRights = `the role lacks rights on the schema ${schema}; ${advice}`;
  const [state] = await connection.read(readState(schema, program)).catch((error) => {
    if (!(error instanceof StoreRefusedError)) throw error;
    return refuse(`${lacksRights}: ${error.message}`);
  });
  if (state === undefined) refuse(`another program created its schema ${schema}`);
  const [version, hasRights] = state;
  if (Number(version) !== SCHEMA_VERSION) {
    const shown = `its schema ${schema} has`;
    if (Number(version) < SCHEMA_VERSION) refuse(olderFormatReason(`${shown} version ${version}`));
    refuse(
      `${shown} the newer version ${version}, and this program knows version ${SCHEMA_VERSION}; ` +
        "use a newer program",
    );
  }
  if (hasRights !== "t") refuse(lacksRights);
  return true;
}

function refuse(reason: string): never {
  throw new StoreRefusedError(reason);
}
