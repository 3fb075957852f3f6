import type { Key } from "../store.ts";
import { StoreDamagedError } from "../store_errors.ts";
import { openTables, TABLES_VERSION } from "./kv_tables.ts";
import { SqliteReader, versionstampOf } from "./sqlite_reader.ts";

/**
 * Checks what Deno KV needs of a file besides the records: its tables and columns, the rows with its own versions, and
 * the indexes that it reads at the opening. The check of the structure finds neither a lost row nor a wrong value, with
 * which Deno KV ends the process, or refuses each commit. An empty file is sound. Rejects with `StoreDamagedError`.
 *
 * `keys` name records that each commit writes. If one of them has a later version than the counter of versions, that
 * counts on from an older copy: a later commit would get an earlier version, and look as if it had not been made.
 */
export async function expectSoundTables(path: string, keys: readonly Key[]): Promise<void> {
  using reader = new SqliteReader(path);
  const isNew = reader.query("select 1 from sqlite_master").length === 0;
  if (isNew) return;
  expectColumns(reader);
  expectReadableAtOpening(reader);
  const tables = versionIn("migration_state", reader);
  if (tables !== TABLES_VERSION) {
    throw new StoreDamagedError(
      `Its tables have version ${tables} of Deno KV, not ${TABLES_VERSION}`,
    );
  }
  // Read the counter last, because another process may commit meanwhile.
  const { entries } = await reader.snapshot(keys, [], { limit: 0 });
  const counter = versionstampOf(versionIn("data_version", reader));
  if (entries.every((entry) => entry === null || entry.versionstamp <= counter)) return;
  throw new StoreDamagedError("A part of it is an older copy: its counter of versions is behind");
}

const SELECT_COLUMNS = `select tables.name || '.' || columns.name as name
  from sqlite_master as tables, pragma_table_info(tables.name) as columns
  where tables.type = 'table'`;

/** Throws `StoreDamagedError` if a table lacks a column that it has in a new store. */
function expectColumns(reader: SqliteReader): void {
  using newStore = new SqliteReader(openTables(":memory:").database);
  const found = new Set(reader.query(SELECT_COLUMNS).map(({ name }) => name));
  const missing = newStore.query(SELECT_COLUMNS).find(({ name }) => !found.has(name));
  if (missing === undefined) return;
  throw new StoreDamagedError(`The column ${missing.name} of Deno KV is missing`);
}

/** The last millisecond of the year 262142. Deno 2.9.6 knows no later time. */
const LATEST_MS = 8_210_266_876_799_999;

/**
 * Deno KV reads the first of these rows when it opens a file. If it cannot read an index, or a row that the service does
 * not write, Deno panics, which ends the process.
 */
const UNREADABLE_ROWS: Record<string, string> = {
  "A record has an impossible time of expiry": `select 1 from kv
    where expiration_ms >= 0 and (typeof(expiration_ms) <> 'integer' or expiration_ms > ${LATEST_MS})
    order by expiration_ms limit 1`,
  "The queue of Deno KV has a message": "select 1 from queue order by ts limit 1",
  "The queue of Deno KV has a message that is being delivered":
    "select 1 from queue_running order by deadline limit 1",
};

/** Throws `StoreDamagedError` if Deno would panic when it opens the file. */
function expectReadableAtOpening(reader: SqliteReader): void {
  for (const [reason, query] of Object.entries(UNREADABLE_ROWS)) {
    if (reader.query(query).length > 0) throw new StoreDamagedError(reason);
  }
}

/** The version that a table has in its only row. Throws `StoreDamagedError` if there is none, or an impossible one. */
function versionIn(table: "migration_state" | "data_version", reader: SqliteReader): number {
  const isPossible =
    `typeof(version) = 'integer' and version between 0 and ${Number.MAX_SAFE_INTEGER}`;
  const [row] = reader.query(`select version from ${table} where k = 0 and ${isPossible}`);
  if (row !== undefined) return row.version as number;
  throw new StoreDamagedError(
    `The table ${table} of Deno KV lacks its row, or has an impossible version`,
  );
}
