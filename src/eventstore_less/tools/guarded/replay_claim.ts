/**
 * The claim of a replay: a record that each of its commits checks, directly or through the head, and changes. So only the
 * run that has it can write.
 */

import type { Head } from "../../definitions.ts";
import { bytesEqual } from "../../encoding/bytes_equal.ts";
import { encodeJson } from "../../encoding/json.ts";
import { HEAD_KEY, REPLAY_KEY } from "../../keyspace.ts";
import { encodeHead, type HeadEntry, readHead } from "../../log/head.ts";
import { type Runtime, sleep } from "../../runtime/runtime.ts";
import { withChecksum } from "../../store/checksum.ts";
import { RETRY_LIMIT_MS } from "../../store/resilience/resilient_store.ts";
import type { Mutation, Store, StoreEntry } from "../../store/store.ts";
import type { Application } from "../../application.ts";
import { RefusedError } from "../refused_error.ts";
import { ToolError } from "../tool_error.ts";
import { commitGuarded } from "./commit_guarded.ts";

/** Another replay has taken the claim since. */
export class ReplayOvertakenError extends RefusedError {
  constructor() {
    super("replay_overtaken", "Another replay was started, and continues");
  }
}

/**
 * The claim that one run holds. If another run has taken it, every method rejects with `ReplayOvertakenError`;
 * `replaceHead` may first resolve to `false`.
 */
export class ReplayClaim {
  #application: Application;
  #store: Store;
  #runtime: Runtime;
  #run: string;
  #attempts = 0;
  /** The versionstamp of the claim that this run wrote last. */
  #held: string | null = null;

  private constructor(application: Application, store: Store, runtime: Runtime) {
    this.#application = application;
    this.#store = store;
    this.#runtime = runtime;
    this.#run = runtime.newId();
  }

  /** Takes the claim, also from another run, which may be dead; if it still runs, its next commit fails. */
  static async take(
    application: Application,
    store: Store,
    runtime: Runtime,
  ): Promise<ReplayClaim> {
    const claim = new ReplayClaim(application, store, runtime);
    const deadline = runtime.monotonicNow() + RETRY_LIMIT_MS;
    for (;;) {
      const base = await readHead(application, store);
      // The head gets a new versionstamp, though its content stays. So while its versionstamp stays, no other run takes
      // the claim.
      if (await claim.#commitOnHead(base, base.head, [])) return claim;
      await pauseBeforeRetry(runtime, deadline);
    }
  }

  /** Commits, and keeps the claim. */
  async commit(mutations: Mutation[]): Promise<void> {
    const value = this.#nextValue();
    const set: Mutation = { type: "set", key: REPLAY_KEY, value };
    await this.#commitOnClaim([...mutations, set], (found) => bytesEqual(found?.value, value));
  }

  /**
   * Replaces a head, and keeps the claim. Resolves to `false` if the head has changed: the commit can no longer land, or
   * it landed before another run took the claim.
   */
  async replaceHead(base: HeadEntry, next: Head, mutations: Mutation[]): Promise<boolean> {
    const found = await this.#store.get(REPLAY_KEY);
    if (found?.versionstamp !== this.#held) throw new ReplayOvertakenError();
    return await this.#commitOnHead(base, next, mutations);
  }

  /** Removes the claim. */
  async release(): Promise<void> {
    await this.#commitOnClaim([{ type: "delete", key: REPLAY_KEY }], (found) => found === null);
  }

  async #commitOnClaim(
    mutations: Mutation[],
    isOurs: (found: StoreEntry | null) => boolean,
  ): Promise<void> {
    const guard = { key: REPLAY_KEY, versionstamp: this.#held };
    const landed = await commitGuarded(this.#store, this.#runtime, { guard, mutations }, isOurs);
    if (landed === undefined) throw new ReplayOvertakenError();
    this.#held = landed.versionstamp;
  }

  /** Writes a head and the next claim. Resolves to whether it landed. */
  async #commitOnHead(base: HeadEntry, next: Head, others: Mutation[]): Promise<boolean> {
    const value = this.#nextValue();
    const guard = { key: HEAD_KEY, versionstamp: base.versionstamp };
    const mutations: Mutation[] = [
      ...others,
      { type: "set", key: HEAD_KEY, value: encodeHead(this.#application, next) },
      { type: "set", key: REPLAY_KEY, value },
    ];
    const readClaim = () => this.#store.get(REPLAY_KEY);
    const isOurs = async () => bytesEqual((await readClaim())?.value, value);
    const landed = await commitGuarded(this.#store, this.#runtime, { guard, mutations }, isOurs);
    if (landed === undefined) return false;
    const claim = await readClaim();
    if (!bytesEqual(claim?.value, value)) throw new ReplayOvertakenError();
    this.#held = claim!.versionstamp;
    return true;
  }

  /** No other commit has this value, so it shows whether this one landed. */
  #nextValue(): Uint8Array {
    this.#attempts++;
    return withChecksum(REPLAY_KEY, encodeJson({ run: this.#run, attempt: this.#attempts }));
  }
}

/** Pauses before another attempt on a newer head. Rejects after the deadline. */
export async function pauseBeforeRetry(runtime: Runtime, deadline: number): Promise<void> {
  if (runtime.monotonicNow() >= deadline) {
    throw new ToolError(
      "head_contended",
      "The head changed during every attempt to update it; run the replay again",
    );
  }
  // At most 1 ms, because the instance that writes now will write again immediately.
  await sleep(runtime, runtime.random());
}
