import { setImmediate as nextTurn } from "node:timers/promises";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { deserialize } from "node:v8";
import { decodeKey, encodeKey, encodeRange } from "../key_encoding.ts";
import { reasonOf } from "../../runtime/logger.ts";
import {
  type Key,
  type KeyRange,
  type ListOptions,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  type StoreLimits,
} from "../store.ts";
import { StoreDamagedError, StoreRefusedError } from "../store_errors.ts";
import { damageOf } from "./sqlite_errors.ts";

/** The encodings of a value, in the column `v_encoding`. */
const V8 = 1;
const BYTES = 3;

/** The columns of a record. Rows as objects would take a tenth more time (measured). */
const COLUMNS = "v, v_encoding, version";
type Row = [value: Uint8Array, encoding: number, version: number];
type ListedRow = [...Row, key: Uint8Array];

/** The types of Deno 2.9.6 lack this method of Node 24. */
type ArrayStatement = StatementSync & { setReturnArrays(areArrays: boolean): void };

/** A record that Deno KV will remove, and when, in milliseconds since the Unix epoch. */
export type ExpiringRecord = { key: Key; expiresAt: number };

/** The time is at most the latest one of a `Date`. */
const SELECT_EXPIRING = `select k, min(expiration_ms, 8640000000000000) as expiresAt from kv
  where expiration_ms >= 0`;

/**
 * Reads a SQLite file that Deno KV may have open, and writes nothing. A read blocks the thread, some 10 µs for a record in
 * memory, and never waits for a commit, which the writer makes on another thread. If a value cannot be decoded, the error
 * is the value: an audit of a damaged file must read the other records.
 */
export class SqliteReader implements Store, Disposable {
  /** The limits of every store. */
  readonly limits: StoreLimits = STORE_LIMITS;
  #database: DatabaseSync;
  #statements = new Map<string, StatementSync>();

  /** Opens a file, or reads an open database. A read waits at most `timeout` milliseconds for a locked file. */
  constructor(source: string | DatabaseSync, timeout = 10_000) {
    this.#database = typeof source === "string"
      ? withDamageError(() => openToRead(source, timeout))
      : source;
  }

  /** Reads an entry. */
  // deno-lint-ignore require-await -- the port is asynchronous
  get: Store["get"] = async (key) => this.#get(key);

  /** Lists entries, in the next turn of the event loop. */
  list: Store["list"] = async (range, { limit, reverse = false }) => {
    // A scan must not keep the thread from other work until its end.
    await nextTurn();
    return this.#list(range, { limit, reverse });
  };

  /** Reads records and ranges in one transaction. */
  // deno-lint-ignore require-await -- the port is asynchronous
  snapshot: Store["snapshot"] = async (keys, ranges, options) => {
    this.#statement("begin").run();
    try {
      const entries = keys.map((key) => this.#get(key));
      const lists = ranges.map((range) => this.#list(range, options));
      return { entries, lists };
    } finally {
      // After some errors, SQLite has already rolled back. A commit instead could fail, and leave the transaction open.
      if (this.#database.isTransaction) this.#statement("rollback").run();
    }
  };

  #get(key: Key): StoreEntry | null {
    const encoded = encodeKey(key);
    return withDamageError(() => {
      const [row] = this.#rows<Row>(`select ${COLUMNS} from kv where k = ?`, encoded);
      return row === undefined ? null : entryOf(key, ...row);
    });
  }

  #list(range: KeyRange, { limit, reverse = false }: ListOptions): StoreEntry[] {
    const { start, end } = encodeRange(range);
    const order = reverse ? "desc" : "asc";
    const query = `select ${COLUMNS}, k from kv where k >= ? and k < ? order by k ${order} limit ?`;
    return withDamageError(() => {
      const rows = this.#rows<ListedRow>(query, start, end, limit);
      return rows.map(([value, encoding, version, key]) => {
        return entryOf(decodeKey(key), value, encoding, version);
      });
    });
  }

  /** Reads the records that Deno KV will remove. The service sets none to expire, but a flipped bit can. */
  *expiringRecords(): Generator<ExpiringRecord> {
    const rows = this.#database.prepare(SELECT_EXPIRING).iterate();
    for (;;) {
      const { value: row, done } = withDamageError(() => rows.next());
      if (done) return;
      const key = withDamageError(() => decodeKey(row.k as Uint8Array));
      yield { key, expiresAt: row.expiresAt as number };
    }
  }

  /** Rejects with `StoreRefusedError`. */
  commit(): Promise<never> {
    return Promise.reject(new StoreRefusedError("The file was opened only for reading"));
  }

  /** Checks the structure of the whole file, but not its records, in some 0.2 s for 100 MB. Throws `StoreDamagedError`. */
  checkStructure(): void {
    const [{ integrity_check: result }] = this.query(CHECK_STRUCTURE);
    expectSound(result);
  }

  /** Rows of any query. Throws `StoreDamagedError`. */
  query(query: string): Record<string, unknown>[] {
    return withDamageError(() => this.#database.prepare(query).all());
  }

  /** Closes the file. */
  close(): void {
    this.#database.close();
  }

  /** The same as close(). */
  [Symbol.dispose](): void {
    this.close();
  }

  #rows<T>(query: string, ...values: (Uint8Array | number)[]): T[] {
    return this.#statement(query).all(...values) as T[];
  }

  #statement(query: string): StatementSync {
    const known = this.#statements.get(query);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(query);
    (statement as ArrayStatement).setReturnArrays(true);
    this.#statements.set(query, statement);
    return statement;
  }
}

function openToRead(path: string, timeout: number): DatabaseSync {
  const database = new DatabaseSync(path, { readOnly: true });
  // Deno 2.9.6 ignores the option `timeout` for a database that is only read, and waits for five seconds.
  database.exec(`pragma busy_timeout = ${timeout}`);
  return database;
}

/** Also compares the keys with their order and the indexes. Of 115 flips in the tree, it finds all, and `quick_check` 7. */
export const CHECK_STRUCTURE = "pragma integrity_check(1)";

/** Throws `StoreDamagedError` if the result of {@linkcode CHECK_STRUCTURE} is a fault: the last line of its text. */
export function expectSound(result: unknown): void {
  if (result !== "ok") throw new StoreDamagedError(String(result).split("\n").at(-1)!);
}

/** Throws `StoreDamagedError` if SQLite, the encoding of a key or a number shows that the file is damaged. */
function withDamageError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const isEncoding = error instanceof TypeError || error instanceof RangeError;
    if (isEncoding) throw new StoreDamagedError(error.message);
    throw damageOf(error) ?? error;
  }
}

function entryOf(key: Key, value: Uint8Array, encoding: number, version: number): StoreEntry {
  return { key, value: valueOf(value, encoding), versionstamp: versionstampOf(version) };
}

/** The versionstamp that Deno KV makes of the number of a commit. Throws `TypeError` if no commit has this number. */
export function versionstampOf(version: number): string {
  if (!Number.isSafeInteger(version) || version < 0) {
    throw new TypeError(`The version ${version} is impossible`);
  }
  return `${version.toString(16).padStart(16, "0")}0000`;
}

/** The value, or the error as the value: an audit must read the other records of the list. */
function valueOf(value: Uint8Array, encoding: number): unknown {
  if (encoding === BYTES && value instanceof Uint8Array) return value;
  try {
    // Of another program, or the head of another format, whose number the refusal names.
    if (encoding === V8) return deserialize(value as never);
  } catch (error) {
    return new StoreDamagedError(reasonOf(error));
  }
  return new StoreDamagedError(`The value encoding ${encoding} is not one of the service`);
}
