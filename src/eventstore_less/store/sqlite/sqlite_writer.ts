/** Commits to the tables of Deno KV in a SQLite database, without a wait of the caller's thread for the disk. */

import type { DatabaseSync } from "node:sqlite";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Worker } from "node:worker_threads";
import { startWorker } from "this-runtime/start_worker.ts";
import { StoreClosedError } from "../store_errors.ts";
import { type EncodedCommit, openTables, packCommit } from "./kv_tables.js";
import WORKER_SOURCE from "./kv_tables.js" with { type: "text" };

export interface SqliteWriter {
  /** Resolves to the version of the commit, or to `null` if a check failed. Rejects with an error of SQLite. */
  commit(commit: EncodedCommit): Promise<number | null>;
  /** Commits in flight reject. */
  close(): void;
}

/** Writes a database in the memory of this thread. */
export class MemoryWriter implements SqliteWriter {
  #tables = openTables(":memory:");

  get database(): DatabaseSync {
    return this.#tables.database;
  }

  commit: SqliteWriter["commit"] = async (commit) => {
    const version = this.#tables.commit(commit);
    // Otherwise, one commit after the other would keep the thread from other work.
    await nextTurn();
    return version;
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
    const workerData = { kvTables: { path, closed: this.#closed } };
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

  commit: SqliteWriter["commit"] = (commit) => {
    if (this.#isClosed) return Promise.reject(new StoreClosedError());
    const packed = packCommit(commit);
    this.#worker.postMessage(packed, [packed.bytes]);
    return this.#answer() as Promise<number | null>;
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
