/** The lease of a replay: the record that lets one replay at a time write, checked by each of its commits. */

import { z } from "zod";
import { Instant, Ulid } from "../../events/api_key.ts";
import { backoffMs, type Runtime, sleep } from "../runtime.ts";
import { REPLAY_KEY } from "../store/keyspace.ts";
import { RETRY_LIMIT_MS } from "../store/retrying_store.ts";
import type { Commit, Mutation, Store, StoreEntry } from "../store/store.ts";

/** How often a replay shows that it lives. */
const BEAT_MS = 1_000;

/** How long a lease must stand still until its replay counts as dead. */
export const LEASE_LIMIT_MS = 5_000;

const POLL_MS = 250;

const LeaseRecord = z.strictObject({
  /** ULID of the replay that holds it. */
  owner: Ulid,
  /** Counts the commits of the replay, so that each of them can be told from all others. */
  beat: z.int().min(1),
  /** When that was, by the clock of the replay: for people only. */
  time: Instant,
  /** Up to which position of the log the generation being built is filled in. */
  filledTo: z.int().min(0),
});
type LeaseRecord = z.infer<typeof LeaseRecord>;

/** Another replay holds the lease, or has taken it over. */
export class ReplayUnderWayError extends Error {
  override name = "ReplayUnderWayError";
}

/** What is stored as the lease; `undefined` where that is none. */
export function decodeLease(value: unknown): LeaseRecord | undefined {
  try {
    return LeaseRecord.parse(JSON.parse(value as string));
  } catch {
    return undefined;
  }
}

export class ReplayLease {
  /** Up to which position the generation being built is filled in, by this replay or the one before. */
  filledTo: number;
  #store: Store;
  #runtime: Runtime;
  #owner: string;
  #beat = 0;
  #beatAt = 0;
  #versionstamp: string | null;

  private constructor(store: Store, runtime: Runtime, found: StoreEntry | null) {
    this.#store = store;
    this.#runtime = runtime;
    this.#owner = runtime.newId();
    this.#versionstamp = found?.versionstamp ?? null;
    this.filledTo = decodeLease(found?.value)?.filledTo ?? 0;
  }

  /**
   * Takes the lease: at once where there is none, and from a replay that has given no sign of life for
   * {@linkcode LEASE_LIMIT_MS}. Throws `ReplayUnderWayError` where it lives. Looks at no clock but its
   * own, since those of two machines may differ.
   */
  static async take(store: Store, runtime: Runtime, onWait: () => void): Promise<ReplayLease> {
    const found = await store.get(REPLAY_KEY);
    if (found !== null) {
      onWait();
      const deadline = runtime.monotonicNow() + LEASE_LIMIT_MS;
      while (runtime.monotonicNow() < deadline) {
        await sleep(runtime, POLL_MS);
        const now = await store.get(REPLAY_KEY);
        if (now?.versionstamp === found.versionstamp) continue;
        // The other one has just ended, or it has shown that it lives.
        if (now === null) return await ReplayLease.take(store, runtime, onWait);
        throw new ReplayUnderWayError("Another replay is under way");
      }
    }
    const lease = new ReplayLease(store, runtime, found);
    try {
      await lease.commit({ checks: [], mutations: [] });
    } catch (error) {
      if (!(error instanceof ReplayUnderWayError)) throw error;
      // Another one took it at the same moment, and is to be met like one that had it before.
      return await ReplayLease.take(store, runtime, onWait);
    }
    return lease;
  }

  /**
   * Commits under the lease. Resolves to whether it landed; it did not where one of the other checks
   * failed. Throws `ReplayUnderWayError` where the lease is lost: then nothing was written, nor ever
   * will be.
   */
  async commit({ checks, mutations }: Commit): Promise<boolean> {
    const beat = this.#beat + 1;
    const time = new Date(this.#runtime.now()).toISOString();
    const record: LeaseRecord = { owner: this.#owner, beat, time, filledTo: this.filledTo };
    const renewal: Mutation = { type: "set", key: REPLAY_KEY, value: JSON.stringify(record) };
    const outcome = await this.#commitUntilKnown(
      { checks, mutations: [...mutations, renewal] },
      (entry) => {
        const found = decodeLease(entry?.value);
        return found?.owner === this.#owner && found.beat === beat;
      },
    );
    if (outcome === undefined) return false;
    this.#beat = beat;
    this.#beatAt = this.#runtime.monotonicNow();
    this.#versionstamp = outcome.versionstamp;
    return true;
  }

  /** Shows that this replay lives, where that is due. To be called more often than every few seconds. */
  async keep(): Promise<void> {
    if (this.#runtime.monotonicNow() - this.#beatAt >= BEAT_MS) {
      await this.commit({ checks: [], mutations: [] });
    }
  }

  /** Lets time pass, and keeps the lease meanwhile. */
  async sleep(ms: number, progress: (done: number) => void): Promise<void> {
    const start = this.#runtime.monotonicNow();
    for (let done = 0; done < ms; done = this.#runtime.monotonicNow() - start) {
      progress(done);
      await sleep(this.#runtime, Math.min(ms - done, BEAT_MS));
      await this.keep();
    }
  }

  /** Gives the lease back. */
  async release(): Promise<void> {
    const mutations: Mutation[] = [{ type: "delete", key: REPLAY_KEY }];
    await this.#commitUntilKnown({ checks: [], mutations }, (entry) => entry === null);
  }

  /**
   * Brings a commit to its outcome. Whatever the store answers beside a versionstamp leaves open
   * whether the commit landed; the lease itself tells, since every commit leaves its own mark there.
   */
  async #commitUntilKnown(
    { checks, mutations }: Commit,
    isLanded: (lease: StoreEntry | null) => boolean,
  ): Promise<{ versionstamp: string | null } | undefined> {
    const mine = { key: REPLAY_KEY, versionstamp: this.#versionstamp };
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    for (let attempt = 0;; attempt++) {
      let failure: unknown;
      try {
        const versionstamp = await this.#store.commit({ checks: [mine, ...checks], mutations });
        if (versionstamp !== null) return { versionstamp };
      } catch (error) {
        failure = error;
      }
      const now = await this.#store.get(REPLAY_KEY);
      if (isLanded(now)) return { versionstamp: now?.versionstamp ?? null };
      if ((now?.versionstamp ?? null) !== this.#versionstamp) {
        throw new ReplayUnderWayError("Another replay has taken over from this one");
      }
      if (failure === undefined && checks.length > 0) return undefined;
      if (this.#runtime.monotonicNow() >= deadline) {
        throw new Error("The store takes no commit; run the replay again", { cause: failure });
      }
      await sleep(this.#runtime, backoffMs(this.#runtime, attempt));
    }
  }
}
