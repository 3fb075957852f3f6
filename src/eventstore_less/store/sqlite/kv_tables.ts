/** The tables of Deno KV in a SQLite database: creates them, and commits to them as Deno KV does. */

import { DatabaseSync } from "node:sqlite";
import type { MessagePort } from "node:worker_threads";

export interface EncodedCommit {
  /** The version that the key must still have; `null` if the key must not exist. */
  guard: { key: Uint8Array; version: number | null };
  /** A key with the value `null` is deleted. */
  mutations: { key: Uint8Array; value: Uint8Array | null }[];
}

/** A commit as a message. One buffer costs little, and each array of bytes much. */
export interface PackedCommit {
  /** Of the guard. */
  version: number | null;
  /** Of the mutations. */
  hasValue: boolean[];
  /** Of the key of the guard, and of the key and the value of each mutation. */
  sizes: number[];
  /** Of all keys and values. */
  bytes: ArrayBuffer;
}

export interface Tables {
  database: DatabaseSync;
  /** Returns the version of the commit, or `null` if the guard has changed. */
  commit(commit: EncodedCommit): number | null;
}

/** The source of a worker that serves the commits of one file. */
export const WORKER_SOURCE = `
  import { DatabaseSync } from "node:sqlite";
  import { parentPort, workerData } from "node:worker_threads";
  const { serveCommits } = (${kvTables})(DatabaseSync);
  serveCommits(parentPort, workerData.path, workerData.closed);`;

export const { TABLES_VERSION, openTables, packCommit } = kvTables(DatabaseSync);

/**
 * All of it is one function that uses nothing from outside, because a worker gets its text: a bundle of one file has no
 * other file for a thread, and to read one would need a permission.
 */
function kvTables(Database: typeof DatabaseSync) {
  /** How long a commit waits for another process to release its lock, as Deno KV does. */
  const LOCK_LIMIT_MS = 5_000;

  /** The version of the tables in Deno KV since 2023. */
  const TABLES_VERSION = 3;

  const CREATE_TABLES = `
    create table migration_state (k integer not null primary key, version integer not null);
    insert into migration_state (k, version) values (0, ${TABLES_VERSION});
    create table data_version (
      k integer primary key,
      version integer not null,
      seq integer not null default 0
    );
    insert into data_version (k, version) values (0, 0);
    create table kv (
      k blob primary key,
      v blob not null,
      v_encoding integer not null,
      version integer not null,
      seq integer not null default 0,
      expiration_ms integer not null default -1
    ) without rowid;
    create index kv_expiration_ms_idx on kv (expiration_ms);
    create table queue (
      ts integer not null,
      id text not null,
      data blob not null,
      backoff_schedule text not null,
      keys_if_undelivered blob not null,
      primary key (ts, id)
    );
    create table queue_running (
      deadline integer not null,
      id text not null,
      data blob not null,
      backoff_schedule text not null,
      keys_if_undelivered blob not null,
      primary key (deadline, id)
    );`;

  /** The encoding of a value that is bytes. Deno KV has others for its own types. */
  const BYTES = 3;

  /** Opens a file, or `:memory:`, to commit to it, and creates the tables in an empty one. */
  function openTables(path: string): Tables {
    const database = new Database(path, { timeout: LOCK_LIMIT_MS });
    try {
      // In this mode, a commit waits for the disk, and does not hold up the readers.
      database.exec("pragma journal_mode = wal; pragma synchronous = full");
      createTables(database);
      return { database, commit: preparedCommit(database) };
    } catch (error) {
      database.close();
      throw error;
    }
  }

  function createTables(database: DatabaseSync): void {
    const countTables = database.prepare("select count(*) as count from sqlite_schema");
    if (countTables.get()?.count === 0) {
      inTransaction(database, () => {
        // Another process may have created them meanwhile.
        if (countTables.get()?.count === 0) database.exec(CREATE_TABLES);
      });
    }
    const version = database.prepare("select version from migration_state").get()?.version;
    if (version === TABLES_VERSION) return;
    throw new Error(`its tables have version ${version} of Deno KV, not ${TABLES_VERSION}`);
  }

  function preparedCommit(database: DatabaseSync): Tables["commit"] {
    const selectVersion = database.prepare("select version from kv where k = ?");
    // Like Deno KV, it skips a random number of versions, so histories that diverge rarely have the same versions.
    const nextVersion = database.prepare(
      `update data_version set version = version + 1 + abs(random() % 9) where k = 0
        returning version`,
    );
    const set = database.prepare(
      `insert into kv (k, v, v_encoding, version, expiration_ms) values (?1, ?2, ${BYTES}, ?3, -1)
        on conflict (k) do update
        set v = ?2, v_encoding = ${BYTES}, version = ?3, expiration_ms = -1`,
    );
    const remove = database.prepare("delete from kv where k = ?");

    return ({ guard, mutations }) =>
      inTransaction(database, () => {
        const found = selectVersion.get(guard.key)?.version ?? null;
        if (found !== guard.version) return null;
        const counter = nextVersion.get();
        // In the words of Deno KV.
        if (counter === undefined) throw new Error("Query returned no rows");
        const { version } = counter as { version: number };
        for (const { key, value } of mutations) {
          if (value === null) remove.run(key);
          else set.run(key, value, version);
        }
        return version;
      });
  }

  /** Locks the database before the first read: otherwise, another process could write between a check and the first change. */
  function inTransaction<T>(database: DatabaseSync, change: () => T): T {
    database.exec("begin immediate");
    try {
      const result = change();
      database.exec("commit");
      return result;
    } catch (error) {
      // After some errors, SQLite has already rolled back.
      if (database.isTransaction) database.exec("rollback");
      throw error;
    }
  }

  function packCommit({ guard, mutations }: EncodedCommit): PackedCommit {
    const noBytes = new Uint8Array();
    const changes = mutations.flatMap(({ key, value }) => [key, value ?? noBytes]);
    const parts = [guard.key, ...changes];
    const sizes = parts.map(({ length }) => length);
    const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
    let offset = 0;
    for (const part of parts) {
      bytes.set(part, offset);
      offset += part.length;
    }
    const hasValue = mutations.map(({ value }) => value !== null);
    return { version: guard.version, hasValue, sizes, bytes: bytes.buffer };
  }

  function unpackCommit({ version, hasValue, sizes, bytes }: PackedCommit): EncodedCommit {
    let offset = 0;
    const [key, ...changes] = sizes.map((size) => {
      offset += size;
      return new Uint8Array(bytes, offset - size, size);
    });
    const mutations = hasValue.map((has, index) => ({
      key: changes[2 * index],
      value: has ? changes[2 * index + 1] : null,
    }));
    return { guard: { key, version }, mutations };
  }

  /**
   * Runs in a worker. The answer to each commit, and to the opening, is one message, in order. `closed` becomes 1 once the
   * database is closed.
   */
  function serveCommits(port: MessagePort, path: string, closed: Int32Array): void {
    let tables: Tables;
    const answer = (act: () => unknown) => {
      try {
        port.postMessage({ result: act() });
      } catch (error) {
        // A message keeps only the text of an error of SQLite.
        const { message, errcode } = error as Error & { errcode?: number };
        port.postMessage({ failure: { message, errcode } });
      }
    };
    answer(() => {
      tables = openTables(path);
    });
    port.on("message", (message: PackedCommit | "close") => {
      if (message !== "close") {
        answer(() => tables.commit(unpackCommit(message)));
        return;
      }
      tables.database.close();
      Atomics.store(closed, 0, 1);
      Atomics.notify(closed, 0);
    });
  }

  return { TABLES_VERSION, openTables, packCommit, serveCommits };
}
