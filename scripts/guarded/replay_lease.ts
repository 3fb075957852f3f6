/** The lease of a replay: a record that only one replay at a time can hold. Each of its commits checks it. */

import { z } from "zod";
import { Instant, Ulid } from "../../src/encoding/text_forms.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import { decodeJson, encodeJson } from "../../src/encoding/json.ts";
import { type Runtime, sleep } from "../../src/runtime/runtime.ts";
import { REPLAY_KEY } from "eventstore-less/keyspace.ts";
import { checkedContent, withChecksum } from "eventstore-less/store/checksum.ts";
import { guardRecord } from "./guarded_record.ts";
import type { Commit, Mutation, Store, StoreEntry } from "eventstore-less/store/store.ts";
import { RefusedError } from "../cli/refused_error.ts";

/** How often a replay renews its lease. */
const BEAT_MS = 1_000;

/** A replay counts as dead if it has not renewed its lease for this long. */
export const LEASE_LIMIT_MS = 5_000;

const POLL_MS = 250;

const LeaseRecord = z.strictObject({
  /** ULID of the replay that holds the lease. */
  owner: Ulid,
  /** Number of the commit within the replay. With `owner`, it identifies the commit. */
  beat: z.int().min(1),
  /** Time of that commit, by the replay's clock. For people only. */
  time: Instant,
  /** The generation that this replay fills, which no head names; 0 if there is none. */
  generation: z.int().min(0),
  /** Position in the log up to which that generation is filled; 0 if it may still have records of an earlier try. */
  filledTo: z.int().min(0),
});
type LeaseRecord = z.infer<typeof LeaseRecord>;

/** How far a replay has filled which generation. */
export type Filling = Pick<LeaseRecord, "generation" | "filledTo">;

export const NO_FILLING: Filling = { generation: 0, filledTo: 0 };

/** Another replay holds the lease or has taken it over. */
export class ReplayUnderWayError extends RefusedError {}

/** Returns `undefined` if the value is not a lease. */
export function decodeLease(value: unknown): LeaseRecord | undefined {
  try {
    return LeaseRecord.parse(decodeJson(checkedContent({ key: REPLAY_KEY, value })));
  } catch {
    return undefined;
  }
}

export class ReplayLease {
  /** The generation that this replay fills, or that the one before it was filling, and how far. */
  filling: Filling;
  #commit: ReturnType<typeof guardRecord>;
  #runtime: Runtime;
  #owner: string;
  #beat = 0;
  #beatAt = 0;

  private constructor(store: Store, runtime: Runtime, found: StoreEntry | null) {
    const lostError = () => {
      const what = this.#beat === 0 ? "is under way" : "has taken over from this one";
      return new ReplayUnderWayError(`Another replay ${what}`);
    };
    this.#commit = guardRecord(store, runtime, { key: REPLAY_KEY, found, lostError });
    this.#runtime = runtime;
    this.#owner = runtime.newId();
    const { generation, filledTo } = decodeLease(found?.value) ?? NO_FILLING;
    this.filling = { generation, filledTo };
  }

  /**
   * Takes the lease: at once if there is none, or if its replay does not renew it for {@linkcode LEASE_LIMIT_MS} by
   * this clock, because the clocks of two machines may differ. Otherwise, and if another replay takes it at the same
   * moment, throws `ReplayUnderWayError`.
   */
  static async take(store: Store, runtime: Runtime, onWait: () => void): Promise<ReplayLease> {
    let found = await store.get(REPLAY_KEY);
    if (found !== null) onWait();
    const deadline = runtime.monotonicNow() + LEASE_LIMIT_MS;
    while (found !== null && runtime.monotonicNow() < deadline) {
      await sleep(runtime, POLL_MS);
      const now = await store.get(REPLAY_KEY);
      if (now !== null && now.versionstamp !== found.versionstamp) {
        throw new ReplayUnderWayError("Another replay is under way");
      }
      found = now;
    }
    const lease = new ReplayLease(store, runtime, found);
    await lease.commit({});
    return lease;
  }

  /**
   * Commits and renews the lease, which then says what is filled. Resolves to `false` if a given check failed. Throws
   * `ReplayUnderWayError` if another replay holds the lease: the commit can no longer land, but may have landed before.
   */
  async commit({ checks = [], mutations = [] }: Partial<Commit>, filling = this.filling) {
    const beat = this.#beat + 1;
    const time = new Date(this.#runtime.now()).toISOString();
    const record: LeaseRecord = { owner: this.#owner, beat, time, ...filling };
    const renewal = withChecksum(REPLAY_KEY, encodeJson(record));
    const set: Mutation = { type: "set", key: REPLAY_KEY, value: renewal };
    const commit = { checks, mutations: [...mutations, set] };
    const hasLanded = await this.#commit(commit, (value) => bytesEqual(value, renewal));
    if (!hasLanded) return false;
    this.filling = filling;
    this.#beat = beat;
    this.#beatAt = this.#runtime.monotonicNow();
    return true;
  }

  /** Renews the lease once per {@linkcode BEAT_MS}. Call it more often than every {@linkcode LEASE_LIMIT_MS}. */
  async keep(): Promise<void> {
    if (this.#runtime.monotonicNow() - this.#beatAt >= BEAT_MS) await this.commit({});
  }

  /** Waits, and renews the lease meanwhile. */
  async sleep(ms: number, progress: (done: number) => void): Promise<void> {
    const start = this.#runtime.monotonicNow();
    let done = 0;
    while (done < ms) {
      progress(done);
      await sleep(this.#runtime, Math.min(ms - done, BEAT_MS));
      await this.keep();
      done = this.#runtime.monotonicNow() - start;
    }
  }

  async release(): Promise<void> {
    const mutations: Mutation[] = [{ type: "delete", key: REPLAY_KEY }];
    await this.#commit({ checks: [], mutations }, (value) => value === undefined);
  }
}
