/** The claim of a replay: the record that each of its commits checks and replaces, so only one run at a time can write. */

import { encodeJson } from "../../src/encoding/json.ts";
import { bytesEqual } from "../../src/encoding/bytes_equal.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { REPLAY_KEY } from "eventstore-less/keyspace.ts";
import { withChecksum } from "eventstore-less/store/checksum.ts";
import { guardRecord } from "./guarded_record.ts";
import type { Commit, Mutation, Store } from "eventstore-less/store/store.ts";
import { RefusedError } from "../cli/refused_error.ts";

/** Another replay was started later, and has the claim. */
export class ReplayOvertakenError extends RefusedError {}

export interface ReplayClaim {
  /**
   * Commits, and keeps the claim. Resolves to `false` if a given check failed. Rejects with `ReplayOvertakenError` if
   * another replay has the claim: the commit can no longer land.
   */
  commit(commit: Partial<Commit>): Promise<boolean>;
  /** Removes the claim. */
  release(): Promise<void>;
}

/**
 * Takes the claim, also from another run, which may be dead; if it still runs, its next commit fails. Rejects with
 * `ReplayOvertakenError` if another run takes the claim at the same moment.
 */
export async function claimReplay(store: Store, runtime: Runtime): Promise<ReplayClaim> {
  const found = await store.get(REPLAY_KEY);
  const lostError = () => new ReplayOvertakenError("Another replay was started, and continues");
  const commitGuarded = guardRecord(store, runtime, { key: REPLAY_KEY, found, lostError });
  const run = runtime.newId();
  let attempts = 0;
  const claim: ReplayClaim = {
    commit({ checks = [], mutations = [] }) {
      attempts++;
      // No other commit has this value, so it shows whether this one landed.
      const value = withChecksum(REPLAY_KEY, encodeJson({ run, attempt: attempts }));
      const set: Mutation = { type: "set", key: REPLAY_KEY, value };
      const commit = { checks, mutations: [...mutations, set] };
      return commitGuarded(commit, (stored) => bytesEqual(stored, value));
    },
    async release() {
      const mutations: Mutation[] = [{ type: "delete", key: REPLAY_KEY }];
      await commitGuarded({ checks: [], mutations }, (stored) => stored === undefined);
    },
  };
  await claim.commit({});
  return claim;
}
