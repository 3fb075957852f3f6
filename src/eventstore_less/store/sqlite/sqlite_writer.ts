/** Commits to a SQLite database, without a wait of the caller's thread for the disk. */

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { startWorker } from "../../runtime/start_worker.ts";
import { versionstampOf } from "./sqlite_reader.ts";
import { encodeKey } from "../key_encoding.ts";
import { type Commit, type Store, STORE_LIMITS, VALUE_BYTES_LIMIT } from "../store.ts";
import { StoreClosedError, StoreReadOnlyError, StoreRefusedError } from "../store_errors.ts";
import { type EncodedCommit, openTables, packCommit, WORKER_SOURCE } from "./kv_tables.ts";

/** The part of a store that writes. It rejects with an error of SQLite. When it is closed, commits in flight reject. */
export type SqliteWriter = Pick<Store, "commit" | "close">;

/** Writes nothing, because a file may only be read. */
export const NO_WRITER: SqliteWriter = {
  commit: () => Promise.reject(new StoreReadOnlyError()),
  close() {},
};

/** Writes a database in the memory of this thread. */
export class MemoryWriter implements SqliteWriter {
  #tables = openTables(":memory:");

  get database(): DatabaseSync {
    return this.#tables.database;
  }

  commit: SqliteWriter["commit"] = async (commit) => {
    const version = this.#tables.commit(encodeCommit(commit));
    // Otherwise, one commit after the other would keep the thread from other work.
    await nextTurn();
    return versionstampOrNull(version);
  };

  /** The reader of the database closes it. */
  close(): void {}
}

/**
 * Maximum time in which {@linkcode FileWriter.close} waits for a commit and the write-ahead log, so that a service with
 * a slow disk ends in time. Each commit is in the write-ahead log by then.
 */
const CLOSE_LIMIT_MS = 300;

/** A call that waits for the next answer of the worker. */
type Waiting = { resolve: (result: unknown) => void; reject: (error: Error) => void };
type Answer = { result: unknown; failure?: undefined } | {
  failure: { message: string; errcode?: number };
};

/** Writes a file in a worker, because a commit there takes as long as the disk. */
export class FileWriter implements SqliteWriter {
  #worker: Worker;
  #closed = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  #waiting: Waiting[] = [];
  #isClosed = false;

  private constructor(path: string) {
    const workerData = { path, closed: this.#closed };
    this.#worker = startWorker(WORKER_SOURCE, { workerData });
    this.#worker.on("message", (answer: Answer) => this.#settle(answer));
  }

  /** Opens or creates the file. Rejects with an error of SQLite. */
  static async open(path: string): Promise<FileWriter> {
    const writer = new FileWriter(path);
    try {
      await writer.#answer();
      return writer;
    } catch (error) {
      await writer.#worker.terminate();
      throw error;
    }
  }

  commit: SqliteWriter["commit"] = async (commit) => {
    if (this.#isClosed) throw new StoreClosedError();
    const packed = packCommit(encodeCommit(commit));
    this.#worker.postMessage(packed, [packed.bytes]);
    return versionstampOrNull(await this.#answer() as number | null);
  };

  close(): void {
    this.#isClosed = true;
    for (const { reject } of this.#waiting.splice(0)) reject(new StoreClosedError());
    this.#worker.postMessage("close");
    Atomics.wait(this.#closed, 0, 0, CLOSE_LIMIT_MS);
    void this.#worker.terminate();
  }

  /** The next answer of the worker. The process does not end before it. */
  #answer(): Promise<unknown> {
    this.#worker.ref();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }));
  }

  #settle({ failure, ...answer }: Answer): void {
    const waiting = this.#waiting.shift();
    if (this.#waiting.length === 0) this.#worker.unref();
    if (failure === undefined) waiting?.resolve((answer as { result: unknown }).result);
    else waiting?.reject(Object.assign(new Error(failure.message), failure));
  }
}

/** The limit of Deno KV, which could not replace a record with a longer key. */
const KEY_BYTES_LIMIT = 2_048;

/** Throws `StoreRefusedError` for a commit that exceeds the limits of Deno KV, so that both refuse the same commits. */
function encodeCommit({ guard, mutations }: Commit): EncodedCommit {
  const encoded = {
    guard: { key: encodeKey(guard.key), version: versionOf(guard.versionstamp) },
    mutations: mutations.map((mutation) => ({
      key: encodeKey(mutation.key),
      value: mutation.type === "set" ? mutation.value : null,
    })),
  };
  expectWithinLimits(encoded);
  return encoded;
}

function expectWithinLimits({ guard, mutations }: EncodedCommit): void {
  const { commitBytes, commitKeyBytes, commitMutations } = STORE_LIMITS;
  const written = mutations.filter(({ value }) => value !== null);
  const sizeOf = (keys: { key: Uint8Array }[]) =>
    keys.reduce((sum, { key }) => sum + key.length, 0);
  const keys = [guard, ...mutations].map(({ key }) => key.length);
  const values = written.map(({ value }) => value!.length);
  // Deno KV counts the key of a written record twice.
  const keyBytes = sizeOf(written);
  const bytes = sizeOf([guard, ...mutations]) + keyBytes +
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

function versionstampOrNull(version: number | null): string | null {
  return version === null ? null : versionstampOf(version);
}
