/**
 * Commits, and determines by the guard whether the commit landed: at most one commit can follow a version of it. "Every
 * outcome of a commit" in eventstore_less/internals.md has the table.
 */

import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { mayHaveLanded, StoreRefusedError } from "./store_errors.ts";

/**
 * - `landed`: all its mutations are stored.
 * - `lost`: the guard has changed, and `hasLanded` does not recognise this commit. It can no longer land.
 * - `not_applied`: no attempt had an effect, and the time was over. Nothing was stored.
 * - `refused`: the store refuses the commit, and every further attempt. Nothing was stored.
 * - `unclear`: the time was over before the outcome was known.
 */
export type CommitOutcome =
  | { state: "landed"; versionstamp: string | null }
  | { state: "lost" }
  | { state: "not_applied" | "refused" | "unclear"; cause: unknown };

export interface GuardedCommit<Guard extends { versionstamp: string | null } | null> {
  /** The versionstamp of the guard that the commit checks; `null` if the guard must not exist. */
  guard: string | null;
  /** Commits. Called again, with the same effect, while the guard is unchanged. */
  commit(): Promise<string | null>;
  readGuard(): Promise<Guard>;
  /** Whether this commit landed, according to a guard that has changed. */
  hasLanded(guard: Guard): boolean | Promise<boolean>;
  /** Whether to stop. `isUnclear` is false if no attempt so far can have landed. */
  isOver(isUnclear: boolean): boolean;
  onFailure?(step: "commit" | "read_back", error: unknown): void;
}

/** Commits until the outcome is known or `isOver`. Never rejects. */
export async function commitUntilKnown<Guard extends { versionstamp: string | null } | null>(
  runtime: Runtime,
  guarded: GuardedCommit<Guard>,
): Promise<CommitOutcome> {
  let isUnclear = false;
  let cause: unknown;
  for (let attempt = 0;; attempt++) {
    try {
      const versionstamp = await guarded.commit();
      if (versionstamp !== null) return { state: "landed", versionstamp };
      isUnclear = true;
    } catch (error) {
      cause = error;
      isUnclear ||= mayHaveLanded(error);
      guarded.onFailure?.("commit", error);
      if (!isUnclear && error instanceof StoreRefusedError) return { state: "refused", cause };
    }
    if (isUnclear) {
      try {
        const guard = await guarded.readGuard();
        const versionstamp = guard?.versionstamp ?? null;
        if (versionstamp !== guarded.guard) {
          const hasLanded = await guarded.hasLanded(guard);
          return hasLanded ? { state: "landed", versionstamp } : { state: "lost" };
        }
      } catch (error) {
        cause = error;
        guarded.onFailure?.("read_back", error);
      }
    }
    if (guarded.isOver(isUnclear)) {
      return { state: isUnclear ? "unclear" : "not_applied", cause };
    }
    await sleep(runtime, backoffMs(runtime, attempt));
  }
}
