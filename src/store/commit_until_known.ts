/**
 * Commits, and determines whether the commit landed. "A check failed", a lock, a time-out and a broken connection do not
 * show whether the commit landed. The guard does: a record that every writer checks, so that at most one
 * commit can follow it.
 */

import { backoffMs, type Runtime, sleep } from "../runtime/runtime.ts";
import { NotAttemptedError } from "./store_errors.ts";

/**
 * The outcome of a commit:
 * - `landed`: all its mutations are stored.
 * - `lost`: the guard has changed, and `hasLanded` does not recognise this commit. It can no longer land.
 * - `refused`: the guard is unchanged, and another check failed. Nothing was stored.
 * - `not_attempted`: the store was not called. Nothing was stored.
 * - `unclear`: the time was over before the outcome was known.
 */
export type CommitOutcome =
  | { state: "landed"; versionstamp: string | null }
  | { state: "lost" }
  | { state: "refused" }
  | { state: "not_attempted" | "unclear"; cause: unknown };

/** A commit that checks a guard record, and how to recognise later whether it landed. */
export interface GuardedCommit<Guard extends { versionstamp: string | null } | null> {
  /** The versionstamp of the guard that the commit checks; `null` if the guard must not exist. */
  guard: string | null;
  /** Commits. Called again, with the same effect, while the guard is unchanged. */
  commit(): Promise<string | null>;
  readGuard(): Promise<Guard>;
  /** Whether this commit landed, according to a guard that has changed. */
  hasLanded(guard: Guard): boolean | Promise<boolean>;
  /**
   * Whether the commit checks other records, too, so that a failed check may be theirs. Versionstamps never
   * return to an earlier value, so a commit whose check failed cannot land later.
   */
  checksOthers?: boolean;
  /** Whether to stop. `wasAttempted` is false if no attempt has reached the store so far. */
  isOver(wasAttempted: boolean): boolean;
  onFailure?(step: "commit" | "read_back", error: unknown): void;
}

/** Commits until the outcome is known or `isOver`. Never rejects. */
export async function commitUntilKnown<Guard extends { versionstamp: string | null } | null>(
  runtime: Runtime,
  guarded: GuardedCommit<Guard>,
): Promise<CommitOutcome> {
  let wasAttempted = false;
  let cause: unknown;
  for (let attempt = 0;; attempt++) {
    let isRefused = false;
    try {
      const versionstamp = await guarded.commit();
      if (versionstamp !== null) return { state: "landed", versionstamp };
      wasAttempted = isRefused = true;
    } catch (error) {
      cause = error;
      wasAttempted ||= !(error instanceof NotAttemptedError);
      guarded.onFailure?.("commit", error);
    }
    if (wasAttempted) {
      try {
        const guard = await guarded.readGuard();
        const versionstamp = guard?.versionstamp ?? null;
        if (versionstamp !== guarded.guard) {
          return await guarded.hasLanded(guard)
            ? { state: "landed", versionstamp }
            : { state: "lost" };
        }
        if (isRefused && guarded.checksOthers) return { state: "refused" };
      } catch (error) {
        cause = error;
        guarded.onFailure?.("read_back", error);
      }
    }
    if (guarded.isOver(wasAttempted)) {
      return { state: wasAttempted ? "unclear" : "not_attempted", cause };
    }
    await sleep(runtime, backoffMs(runtime, attempt));
  }
}
