import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import {
  decodeKey,
  encodeKey,
  encodeRange,
  formatKey,
} from "../../src/eventstore_less/store/key_encoding.ts";
import {
  type Commit,
  expectListLimit,
  type Key,
  type KeyRange,
  type ListOptions,
  type Snapshot,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  type StoreLimits,
  VALUE_BYTES_LIMIT,
} from "../../src/eventstore_less/store/store.ts";
import { StoreRefusedError } from "../../src/eventstore_less/store/store_errors.ts";

interface Row {
  key: Uint8Array;
  value: Uint8Array;
  versionstamp: string;
}

/** SQLite sorts keys as Deno KV does. */
const SCHEMA = "create table records (key blob primary key, value blob, versionstamp text)";
const SELECT = "select key, value, versionstamp from records where";

/** Deno KV in memory: key order, versionstamps, checks, ranges and limits; also with synchronous calls. */
export class ModelStore implements Store {
  readonly limits: StoreLimits;
  #database = new DatabaseSync(":memory:");
  #statements = new Map<string, StatementSync>();
  #version = 0;

  constructor(limits = STORE_LIMITS) {
    this.limits = limits;
    this.#database.exec(SCHEMA);
  }

  get(key: Key): Promise<StoreEntry | null> {
    return Promise.try(() => this.read(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return Promise.try(() => this.scan(range, options));
  }

  snapshot(
    keys: readonly Key[],
    ranges: readonly KeyRange[],
    options: ListOptions,
  ): Promise<Snapshot> {
    return Promise.try(() => this.view(keys, ranges, options));
  }

  commit(commit: Commit): Promise<string | null> {
    return Promise.try(() => this.apply(commit));
  }

  close(): void {
    this.#database.close();
  }

  read(key: Key): StoreEntry | null {
    return this.#entries("key = ?", encodeKey(key))[0] ?? null;
  }

  scan(range: KeyRange, { limit, reverse = false }: ListOptions): StoreEntry[] {
    expectListLimit({ limit });
    const { start, end } = encodeRange(range);
    const order = reverse ? "desc" : "asc";
    return this.#entries(`key >= ? and key < ? order by key ${order} limit ?`, start, end, limit);
  }

  view(keys: readonly Key[], ranges: readonly KeyRange[], options: ListOptions): Snapshot {
    expectListLimit(options);
    const entries = keys.map((key) => this.read(key));
    const lists = ranges.map((range) => this.scan(range, options));
    return { entries, lists };
  }

  all(prefix: Key): StoreEntry[] {
    const { start, end } = encodeRange({ prefix });
    return this.#entries("key >= ? and key < ? order by key", start, end);
  }

  apply(commit: Commit): string | null {
    const { guard, mutations } = commit;
    expectGuardChange(commit);
    rejectOversize(commit, this.limits);
    if ((this.read(guard.key)?.versionstamp ?? null) !== guard.versionstamp) return null;
    const versionstamp = (++this.#version).toString(16).padStart(16, "0") + "0000";
    for (const mutation of mutations) {
      const key = encodeKey(mutation.key);
      if (mutation.type === "delete") this.#run("delete from records where key = ?", key);
      else {
        const insert = "insert or replace into records values (?, ?, ?)";
        this.#run(insert, key, mutation.value, versionstamp);
      }
    }
    return versionstamp;
  }

  #entries(condition: string, ...values: SQLInputValue[]): StoreEntry[] {
    const rows = this.#run(`${SELECT} ${condition}`, ...values) as unknown as Row[];
    return rows.map(({ key, ...rest }) => ({ key: decodeKey(key), ...rest }));
  }

  #run(sql: string, ...values: SQLInputValue[]) {
    const statement = this.#statements.getOrInsertComputed(sql, () => this.#database.prepare(sql));
    return statement.all(...values);
  }
}

/** Throws if a commit does not change its guard, or changes the head without it as the guard. */
function expectGuardChange({ guard, mutations }: Commit): void {
  const changed = mutations.map(({ key }) => formatKey(key));
  const guardKey = formatKey(guard.key);
  if (!changed.includes(guardKey)) {
    throw new Error(`A commit does not change its guard ${guardKey}`);
  }
  const headKey = formatKey(HEAD_KEY);
  if (guardKey !== headKey && changed.includes(headKey)) {
    throw new Error("A commit changes the head, which is not its guard");
  }
}

function rejectOversize({ guard, mutations }: Commit, limits: StoreLimits): void {
  let keys = 0;
  let bytes = encodeKey(guard.key).length;
  for (const mutation of mutations) {
    const keyBytes = encodeKey(mutation.key).length;
    bytes += keyBytes;
    if (mutation.type === "delete") continue;
    const { length } = mutation.value;
    if (length > VALUE_BYTES_LIMIT) throw new StoreRefusedError("A value is too large");
    // Deno KV counts the key of a value twice.
    bytes += keyBytes + length;
    keys += keyBytes;
  }
  const { commitMutations, commitBytes, commitKeyBytes } = limits;
  if (mutations.length > commitMutations || bytes > commitBytes || keys > commitKeyBytes) {
    throw new StoreRefusedError("The commit is too large");
  }
}
