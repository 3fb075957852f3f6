/** The commits of an instance that replace the head, and what follows if the file of the store cannot be written. */

import type { Application } from "../application.ts";
import type { Head } from "../definitions.ts";
import { HEAD_KEY } from "../keyspace.ts";
import { encodeHead, type HeadEntry } from "../log/head.ts";
import type { HeadReader } from "../log/head_reader.ts";
import type { Logger } from "../runtime/logger.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";
import {
  isWriteFault,
  StoreFailingError,
  StoreRefusedError,
  type WriteFaultError,
} from "../store/store_errors.ts";
import { type Mutation, type Store, WRITE_PROBE } from "../store/store.ts";

/** Time between two probes of a store that cannot be written. */
const PROBE_INTERVAL_MS = 1_000;

/** The commit was not sent, because the last one met a failing disk. */
export class WithheldError extends StoreRefusedError {
  constructor() {
    super("The disk of the store fails, so nothing was stored", { isLogged: true });
  }
}

/** Mutations that replace the head `base` by `next`. */
interface HeadChange {
  base: HeadEntry;
  next: Head;
  mutations: Mutation[];
}

export interface HeadWriterDeps {
  application: Application;
  heads: HeadReader;
  report: Logger;
  runtime: Runtime;
  store: Store;
  /** Whether commits are attempted. Then no probe is needed, because a commit shows whether the store can be written. */
  isCommitting: () => boolean;
  onLanded: () => void;
}

/** Commits with the head as the guard. If the file cannot be written, it says so, and probes until it can. */
export class HeadWriter {
  #deps: HeadWriterDeps;
  /** The error of the last commit if the store's file could not be written. */
  #fault: WriteFaultError | undefined;
  #watching: Promise<void> | undefined;

  constructor(deps: HeadWriterDeps) {
    this.#deps = deps;
  }

  /** Why the file cannot be written; `undefined` if the last commit met no such fault. */
  get fault(): WriteFaultError | undefined {
    return this.#fault;
  }

  /** Commits a batch; resolves to `null` if the head is not `base` any more. Rejects without a call if the disk fails. */
  commitBatch(change: HeadChange): Promise<string | null> {
    // Without this, each further commit would be unclear as well, and its commands would wait until their deadlines.
    return this.#isDiskFailing ? Promise.reject(new WithheldError()) : this.#commit(change);
  }

  async #commit({ base, next, mutations }: HeadChange): Promise<string | null> {
    const { heads, onLanded, store } = this.#deps;
    try {
      const guard = { key: HEAD_KEY, versionstamp: base.versionstamp };
      const versionstamp = await store.commit({ guard, mutations });
      if (versionstamp === null) return null;
      this.#noteWritable();
      onLanded();
      heads.advance({ head: next, versionstamp });
      return versionstamp;
    } catch (error) {
      if (isWriteFault(error)) this.#noteFault(error);
      throw error;
    }
  }

  #noteFault(fault: WriteFaultError): void {
    this.#fault = fault;
    const { event, reason, remedy: imperative } = fault;
    const sentence = `${imperative[0].toUpperCase()}${imperative.slice(1)}`;
    const remedy = `${sentence}; the service then continues by itself`;
    this.#deps.report("error", event, { reason, remedy });
    this.#watching ??= this.#watchFault();
  }

  #noteWritable(): void {
    if (this.#fault === undefined) return;
    this.#deps.report("info", "storage_available", { ends: this.#fault.event });
    this.#fault = undefined;
  }

  get #isDiskFailing(): boolean {
    return this.#fault instanceof StoreFailingError;
  }

  /** Probes until a write lands: an instance that is not ready may get no requests. */
  async #watchFault(): Promise<void> {
    const { isCommitting, runtime } = this.#deps;
    while (this.#fault !== undefined) {
      await sleep(runtime, PROBE_INTERVAL_MS);
      const areCommitsProbes = isCommitting() && !this.#isDiskFailing;
      if (this.#fault === undefined || areCommitsProbes) continue;
      // A probe that fails for another reason says nothing about the disk.
      await this.#probe().catch(() => {});
    }
    this.#watching = undefined;
  }

  /** Writes the head unchanged. Without a head, it commits a record that is never stored. */
  async #probe(): Promise<void> {
    const { application, heads, store } = this.#deps;
    const base = await heads.read();
    if (base.versionstamp === null) {
      await store.commit(WRITE_PROBE);
      this.#noteWritable();
      return;
    }
    const value = encodeHead(application, base.head);
    const mutations: Mutation[] = [{ type: "set", key: HEAD_KEY, value }];
    await this.#commit({ base, next: base.head, mutations });
  }
}
