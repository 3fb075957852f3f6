import { bytesEqual } from "../../encoding/bytes_equal.ts";
import { bytesOfHex, hexOf } from "../../encoding/hex.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import { decodeKey, encodeKey, encodeRange } from "../key_encoding.ts";
import { NotAppliedError, StoreRefusedError } from "../store_errors.ts";
import {
  type Commit,
  expectListLimit,
  type Key,
  type Mutation,
  type Snapshot,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  VALUE_BYTES_LIMIT,
} from "../store.ts";
import type { Connection, Parameter, Row } from "./connection.ts";
import { databaseName, type PostgresSettings } from "./database_url.ts";
import { closeUnlessOpened } from "./open_connection.ts";
import { closeBoth, connectToPrimary, type PrimaryConnections } from "./primary.ts";
import { type Program, schemaNameOf } from "./program.ts";
import { prepareSchema } from "./schema.ts";
import {
  encodeArray,
  SKIP_LIMIT,
  type Statements,
  statementsOf,
  WAITS_FOR_STANDBY,
} from "./statements.ts";

/** How long a server counts as the primary after a commit has proved it. */
const PROVEN_MS = 2_000;

/** Versions of missing records. The sequence begins at 1. */
const MISSING = "0";

/** The key of the head, which has its own table, and whether each read of it proves that the server is the primary. */
type Head = { key: Uint8Array; strictReads: boolean };

/** How to use a database. */
export interface DatabaseOptions extends Program {
  /** Whether the tables are created in an empty database. */
  create: boolean;
  /**
   * Every commit that adds a record has one of these records as its guard. The first is the head, and a read of it must
   * come from the primary.
   */
  guardKeys: readonly Key[];
  /** Time and timers. */
  runtime: Runtime;
  /** Called after the tables were created in a database, which it names. */
  onSchemaCreated?: (database: string) => void;
  /** Called at each connection to one of several servers, which a function then asks about its standbys. */
  onReplicated?: (waitsForStandby: WaitsForStandby) => void;
}

/** Whether a commit that succeeds is stored by a synchronous standby, too. */
export type WaitsForStandby = () => Promise<boolean>;

/** A store in the tables of a PostgreSQL database, over two connections to its primary. */
export class PostgresStore implements Store {
  readonly limits = STORE_LIMITS;
  #primary: PrimaryConnections;
  #runtime: Runtime;
  #head: Head;
  /** Monotonic time in milliseconds at which the server was certainly still the primary. */
  #provenAt = -Infinity;

  #sql: Statements;

  private constructor(
    sql: Statements,
    primary: PrimaryConnections,
    runtime: Runtime,
    head: Head,
  ) {
    this.#sql = sql;
    this.#primary = primary;
    this.#runtime = runtime;
    this.#head = head;
  }

  /** Connects to the primary. Rejects with `StoreAwayError`, or `StoreRefusedError` if waiting does not help. */
  static async open(
    settings: PostgresSettings,
    { program, create, onSchemaCreated, onReplicated, guardKeys, runtime }: DatabaseOptions,
    signal: AbortSignal,
  ): Promise<PostgresStore> {
    const encodedKeys = guardKeys.map(encodeKey);
    const primary = await connectToPrimary({ ...settings, program }, runtime, signal);
    return await closeUnlessOpened(signal, () => closeBoth(primary), async () => {
      const isCreated = await prepareSchema(primary.commits, { program }, create);
      if (isCreated) onSchemaCreated?.(databaseName(settings));
      const schema = schemaNameOf(program);
      const sql = statementsOf(schema);
      // A commit that adds a record also writes one of these, so the largest of their versions is the largest of all.
      await advanceVersions(primary.commits, sql, encodedKeys);
      const head = { key: encodedKeys[0], strictReads: settings.strictReads };
      const { reads } = primary;
      const waitsForStandby = async () => {
        const [[waits]] = await reads.read(WAITS_FOR_STANDBY);
        return waits === "t";
      };
      if (settings.hosts.length > 1) onReplicated?.(waitsForStandby);
      return new PostgresStore(sql, primary, runtime, head);
    });
  }

  get: Store["get"] = async (key) => {
    const isHead = bytesEqual(encodeKey(key), this.#head.key);
    if (isHead) return await this.#getHead(key);
    const { entries: [entry] } = await this.snapshot([key], [], { limit: 0 });
    return entry;
  };

  async #getHead(key: Key): Promise<StoreEntry | null> {
    const [row] = await this.#readHead(this.#sql.GET_HEAD, this.#sql.PROVE_AND_GET_HEAD, []);
    const [, value] = row;
    return value === null ? null : entryOf(key, row);
  }

  /** Reads the head. If a proof is due that the server is the primary, uses the statement that also proves this. */
  async #readHead(plain: string, proving: string, parameters: Parameter[]): Promise<Row[]> {
    const sentAt = this.#runtime.monotonicNow();
    const mustProve = this.#head.strictReads || sentAt - this.#provenAt >= PROVEN_MS;
    const rows = await this.#primary.reads.read(mustProve ? proving : plain, parameters);
    if (mustProve) this.#provenAt = sentAt;
    return rows;
  }

  list: Store["list"] = async (range, options) => {
    const { lists: [entries] } = await this.snapshot([], [range], options);
    return entries;
  };

  snapshot: Store["snapshot"] = async (keys, ranges, options) => {
    expectListLimit(options);
    const encodedKeys = keys.map(encodeKey);
    const encodedRanges = ranges.map(encodeRange);
    const others = encodedKeys.filter((key) => !bytesEqual(key, this.#head.key));
    const parameters = [
      encodeArray(others),
      this.#head.key,
      encodeArray(encodedRanges.map(({ start }) => start)),
      encodeArray(encodedRanges.map(({ end }) => end)),
      options.limit,
    ];
    const [plain, proving] = options.reverse
      ? [this.#sql.SNAPSHOT_REVERSE, this.#sql.PROVE_AND_SNAPSHOT_REVERSE]
      : [this.#sql.SNAPSHOT, this.#sql.PROVE_AND_SNAPSHOT];
    const hasHead = others.length < encodedKeys.length;
    const rows = hasHead
      ? await this.#readHead(plain, proving, parameters)
      : await this.#primary.reads.read(plain, parameters);
    return snapshotOf(rows, keys, encodedKeys, ranges.length);
  };

  async commit(commit: Commit): Promise<string | null> {
    const encoded = encodeCommit(commit);
    const [statement, parameters] = this.#statementOf(encoded);
    const sentAt = this.#runtime.monotonicNow();
    const [row] = await this.#primary.commits.write(statement, parameters);
    if (row === undefined) return null;
    const [version, isLarger] = row;
    if (isLarger !== "t") {
      await advanceVersions(this.#primary.commits, this.#sql, [encoded.guard]);
      throw new NotAppliedError("The database's sequence of versions was behind its records");
    }
    this.#provenAt = sentAt;
    return versionstampOf(version!);
  }

  /** The statement for the guard of a commit, and its parameters. */
  #statementOf({ guard, version, deleted, written }: EncodedCommit): [string, Parameter[]] {
    const isHead = (key: Uint8Array) => bytesEqual(key, this.#head.key);
    if (!isHead(guard) && [...deleted, ...written.map(({ key }) => key)].some(isHead)) {
      throw new StoreRefusedError("Only a commit with the head as its guard may change the head");
    }
    if (!isHead(guard) && version !== MISSING) {
      return [this.#sql.COMMIT_ON_RECORD, [version, guard, ...arraysOf(deleted, written)]];
    }
    const isOther = (key: Uint8Array) => !bytesEqual(key, guard);
    const value = written.find(({ key }) => !isOther(key))?.value ?? null;
    const others = arraysOf(deleted.filter(isOther), written.filter(({ key }) => isOther(key)));
    return isHead(guard)
      ? [this.#sql.COMMIT_ON_HEAD, [version, value, ...others]]
      : [this.#sql.COMMIT_ON_NEW_RECORD, [version, guard, ...others, value]];
  }

  close(): void {
    closeBoth(this.#primary);
  }
}

/**
 * Makes the next version larger than the version of each record with these keys. After a dump without the value of the
 * sequence, or after logical replication, it may be smaller. Rejects with `StoreRefusedError` if the sequence is too
 * far behind.
 */
async function advanceVersions(
  connection: Connection,
  sql: Statements,
  keys: Uint8Array[],
): Promise<void> {
  const [[largest, behind]] = await connection.write(sql.SKIP, [encodeArray(keys)]);
  if (Number(behind) <= SKIP_LIMIT) return;
  throw new StoreRefusedError(
    `its sequence ${sql.schema}.versions is ${behind} versions behind its records, perhaps because it was ` +
      `restored or replicated without it: as the owner of the sequence, run ` +
      `select pg_catalog.setval('${sql.schema}.versions', ${largest})`,
  );
}

interface EncodedCommit {
  /** The key of the guard, and its expected version. */
  guard: Uint8Array;
  version: string;
  deleted: Uint8Array[];
  written: EncodedRecord[];
}

interface EncodedRecord {
  key: Uint8Array;
  value: Uint8Array;
}

/** If several mutations have the same key, the last one counts. Throws `StoreRefusedError` beyond the limits of a commit. */
function encodeCommit({ guard, mutations }: Commit): EncodedCommit {
  if (mutations.length > STORE_LIMITS.commitMutations) {
    throw new StoreRefusedError("The commit has too many mutations");
  }
  const last = new Map<string, { key: Uint8Array; mutation: Mutation }>();
  for (const mutation of mutations) {
    const key = encodeKey(mutation.key);
    last.set(hexOf(key), { key, mutation });
  }
  const deleted: Uint8Array[] = [];
  const written: EncodedRecord[] = [];
  let size = 0;
  for (const { key, mutation } of last.values()) {
    if (mutation.type === "delete") {
      deleted.push(key);
      continue;
    }
    const { value } = mutation;
    if (value.length > VALUE_BYTES_LIMIT) throw new StoreRefusedError("A value is too large");
    size += value.length;
    written.push({ key, value });
  }
  if (size > STORE_LIMITS.commitBytes) throw new StoreRefusedError("The commit is too large");
  const version = versionOf(guard.versionstamp);
  return { guard: encodeKey(guard.key), version, deleted, written };
}

/** The keys to delete, and the keys and values to write. */
function arraysOf(deleted: Uint8Array[], written: EncodedRecord[]): Parameter[] {
  const keys = written.map(({ key }) => key);
  const values = written.map(({ value }) => value);
  return [deleted, keys, values].map(encodeArray);
}

/** Finds the entry of each key, and those of each range, among the rows of a snapshot. */
function snapshotOf(
  rows: Row[],
  keys: readonly Key[],
  encodedKeys: Uint8Array[],
  ranges: number,
): Snapshot {
  const byKey = new Map<string, Row>();
  const lists: StoreEntry[][] = Array.from({ length: ranges }, () => []);
  for (const row of rows) {
    const [, value, key, range] = row;
    if (range !== "0") lists[Number(range) - 1].push(entryOf(decodeKey(bytesOf(key)), row));
    else if (value !== null) byKey.set(key!, row);
  }
  const entries = keys.map((key, index) => {
    const row = byKey.get(`\\x${hexOf(encodedKeys[index])}`);
    return row === undefined ? null : entryOf(key, row);
  });
  return { entries, lists };
}

function entryOf(key: Key, [version, value]: Row): StoreEntry {
  return { key, value: bytesOf(value), versionstamp: versionstampOf(version!) };
}

/** Decodes bytes from the text form `\x0a…`. */
function bytesOf(text: string | null): Uint8Array {
  return bytesOfHex(text!.slice(2));
}

/** Versionstamps sort as text, so they have the digits of the largest bigint. */
function versionstampOf(version: string): string {
  return version.padStart(19, "0");
}

function versionOf(versionstamp: string | null): string {
  return versionstamp === null ? MISSING : String(BigInt(versionstamp));
}
