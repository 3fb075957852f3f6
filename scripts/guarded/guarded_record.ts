import type { Runtime } from "../../src/runtime/runtime.ts";
import { commitUntilKnown } from "../../src/store/commit_until_known.ts";
import { RETRY_LIMIT_MS } from "../../src/store/resilience/resilient_store.ts";
import type { Commit, Key, Store } from "../../src/store/store.ts";

/**
 * Returns a function that commits as the only writer of a record. Each commit checks the record, and its mutations must
 * write or delete it. Resolves to `true` if the commit landed, and to `false` if one of the given checks failed.
 * `isOurs` recognises the commit by the value of a record that has changed. Rejects with `lostError`, or if the
 * store has taken no commit for {@linkcode RETRY_LIMIT_MS}.
 */
export function guardRecord(
  store: Store,
  runtime: Runtime,
  { key, versionstamp, lostError }: {
    key: Key;
    /** As the record was read; `null` if it does not exist. */
    versionstamp: string | null;
    /** The error if another writer has changed the record. */
    lostError: () => Error;
  },
): (commit: Commit, isOurs: (value: unknown) => boolean) => Promise<boolean> {
  let guard = versionstamp;
  return async ({ checks, mutations }, isOurs) => {
    const commit = { checks: [{ key, versionstamp: guard }, ...checks], mutations };
    const deadline = runtime.monotonicNow() + RETRY_LIMIT_MS;
    const outcome = await commitUntilKnown(runtime, {
      guard,
      commit: () => store.commit(commit),
      readGuard: () => store.get(key),
      hasLanded: (entry) => isOurs(entry?.value),
      checksOthers: checks.length > 0,
      isOver: () => runtime.monotonicNow() >= deadline,
    });
    switch (outcome.state) {
      case "landed":
        guard = outcome.versionstamp;
        return true;
      case "check_failed":
        return false;
      case "lost":
        throw lostError();
      default:
        throw new Error("The store takes no commit", { cause: outcome.cause });
    }
  };
}
