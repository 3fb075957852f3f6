import { SqliteReader } from "./sqlite_reader.ts";
import {
  expectListLimit,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  type StoreLimits,
} from "../store.ts";
import { StoreDamagedError } from "../store_errors.ts";
import { withCommitErrors, withReadErrors } from "./sqlite_errors.ts";
import { FileWriter, MemoryWriter, type SqliteWriter } from "./sqlite_writer.ts";

/**
 * A store in a file of SQLite, or in memory. The tables are those of Deno KV, so that Deno KV can write the file on a
 * runtime that has it. Reads block the thread, some 10 µs for a record in memory, and never wait for a commit,
 * which another thread makes.
 */
export class SqliteStore implements Store {
  /** The limits of every store. */
  readonly limits: StoreLimits = STORE_LIMITS;
  #reader: SqliteReader;
  #writer: SqliteWriter;
  #path: string | undefined;

  /** The reader and the writer have the same file open, which `path` names in errors. The store closes both. */
  constructor(reader: SqliteReader, writer: SqliteWriter, path?: string) {
    this.#reader = reader;
    this.#writer = writer;
    this.#path = path;
  }

  /**
   * Opens a file with a writer, or creates it; `:memory:` is a store in memory. A read waits at most `timeout`
   * milliseconds for a locked file, and blocks the thread. Rejects with an error of SQLite.
   */
  static async open(
    path: string,
    timeout?: number,
    openWriter: (path: string) => Promise<SqliteWriter> = FileWriter.open,
  ): Promise<SqliteStore> {
    if (path === ":memory:") {
      const writer = new MemoryWriter();
      return new SqliteStore(new SqliteReader(writer.database), writer);
    }
    const writer = await openWriter(path);
    try {
      return new SqliteStore(new SqliteReader(path, timeout), writer, path);
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  /** Reads an entry. */
  get: Store["get"] = (key) => withReadErrors(async () => decoded(await this.#reader.get(key)));

  /** Lists entries. */
  list: Store["list"] = (range, options) =>
    withReadErrors(async () => {
      expectListLimit(options);
      return (await this.#reader.list(range, options)).map(decoded);
    });

  /** Reads records and ranges in one transaction. */
  snapshot: Store["snapshot"] = (keys, ranges, options) =>
    withReadErrors(async () => {
      expectListLimit(options);
      const { entries, lists } = await this.#reader.snapshot(keys, ranges, options);
      return { entries: entries.map(decoded), lists: lists.map((list) => list.map(decoded)) };
    });

  /** Commits in the thread of the writer. Resolves when the commit is on the disk. */
  commit: Store["commit"] = (commit) =>
    withCommitErrors(() => this.#writer.commit(commit), this.#path);

  /** Closes the file. */
  close(): void {
    // The connection that closes last writes the write-ahead log into the file, which a reader cannot do.
    this.#reader.close();
    this.#writer.close();
  }
}

/** Throws if the value is a `StoreDamagedError`: a reader returns one for a value that it could not decode. */
function decoded<Entry extends StoreEntry | null>(entry: Entry): Entry {
  if (entry?.value instanceof StoreDamagedError) throw entry.value;
  return entry;
}
