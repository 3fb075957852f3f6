import { SqliteReader, versionstampOf } from "../deno_kv/sqlite_reader.ts";
import { encodeKey } from "../key_encoding.ts";
import { type Commit, type Store, STORE_LIMITS, VALUE_BYTES_LIMIT } from "../store.ts";
import { StoreRefusedError } from "../store_errors.ts";
import type { EncodedCommit } from "./kv_tables.js";
import { decoded, withTypedErrors } from "./sqlite_errors.ts";
import { FileWriter, MemoryWriter, type SqliteWriter } from "./sqlite_writer.ts";

/** The limit of Deno KV, which could not replace a record with a longer key. */
const KEY_BYTES_LIMIT = 2_048;

/**
 * A store on the tables of Deno KV, by `node:sqlite` alone: other processes may have the same file open by Deno KV. Reads
 * block the thread, some 10 µs for a record in memory, and never wait for a commit, which a worker makes.
 */
export class SqliteStore implements Store {
  readonly limits = STORE_LIMITS;
  #reader: SqliteReader;
  #writer: SqliteWriter;

  private constructor(reader: SqliteReader, writer: SqliteWriter) {
    this.#reader = reader;
    this.#writer = writer;
  }

  /**
   * Opens a file, or creates it; `:memory:` is a store in memory. A read waits at most `timeout` milliseconds for a
   * locked file, and blocks the thread. Rejects with an error of SQLite.
   */
  static async open(path: string, timeout?: number): Promise<SqliteStore> {
    if (path === ":memory:") {
      const writer = new MemoryWriter();
      return new SqliteStore(new SqliteReader(writer.database), writer);
    }
    const writer = await FileWriter.open(path);
    try {
      return new SqliteStore(new SqliteReader(path, timeout), writer);
    } catch (error) {
      writer.close();
      throw error;
    }
  }

  get: Store["get"] = async (key) => (await this.getMany([key]))[0];

  getMany: Store["getMany"] = (keys) =>
    withTypedErrors(async () => (await this.#reader.getMany(keys)).map(decoded));

  list: Store["list"] = (range, options) =>
    withTypedErrors(async () => {
      const { listEntries } = this.limits;
      if (options.limit > listEntries) {
        throw new StoreRefusedError(`Too many entries (max ${listEntries})`);
      }
      return (await this.#reader.list(range, options)).map(decoded);
    });

  commit: Store["commit"] = (commit) =>
    withTypedErrors(async () => {
      const version = await this.#writer.commit(encodeCommit(commit));
      return version === null ? null : versionstampOf(version);
    });

  close(): void {
    // The connection that closes last writes the write-ahead log into the file, which a reader cannot do.
    this.#reader.close();
    this.#writer.close();
  }
}

/** Throws `StoreRefusedError` for a commit that exceeds the limits of Deno KV, so that both refuse the same commits. */
function encodeCommit({ checks, mutations }: Commit): EncodedCommit {
  const encoded = {
    checks: checks.map(({ key, versionstamp }) => ({
      key: encodeKey(key),
      version: versionOf(versionstamp),
    })),
    mutations: mutations.map((mutation) => ({
      key: encodeKey(mutation.key),
      value: mutation.type === "set" ? mutation.value : null,
    })),
  };
  expectWithinLimits(encoded);
  return encoded;
}

function expectWithinLimits({ checks, mutations }: EncodedCommit): void {
  const { commitBytes, commitKeyBytes, commitMutations } = STORE_LIMITS;
  const written = mutations.filter(({ value }) => value !== null);
  const sizeOf = (keys: { key: Uint8Array }[]) =>
    keys.reduce((sum, { key }) => sum + key.length, 0);
  const keys = [...checks, ...mutations].map(({ key }) => key.length);
  const values = written.map(({ value }) => value!.length);
  // Deno KV counts the key of a written record twice.
  const keyBytes = sizeOf(written);
  const bytes = sizeOf(checks) + sizeOf(mutations) + keyBytes +
    values.reduce((sum, length) => sum + length, 0);
  const excesses: [isBeyond: boolean, what: string, max: number][] = [
    [mutations.length > commitMutations, "Too many mutations", commitMutations],
    [keys.some((length) => length > KEY_BYTES_LIMIT), "Key too large", KEY_BYTES_LIMIT],
    [values.some((length) => length > VALUE_BYTES_LIMIT), "Value too large", VALUE_BYTES_LIMIT],
    [bytes > commitBytes, "Total mutation size too large", commitBytes],
    [keyBytes > commitKeyBytes, "Total key size too large", commitKeyBytes],
  ];
  const excess = excesses.find(([isBeyond]) => isBeyond);
  if (excess !== undefined) throw new StoreRefusedError(`${excess[1]} (max ${excess[2]})`);
}

/** The number of the commit that a versionstamp is of. */
function versionOf(versionstamp: string | null): number | null {
  return versionstamp === null ? null : Number.parseInt(versionstamp.slice(0, 16), 16);
}
