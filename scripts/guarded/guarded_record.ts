import type { Runtime } from "../../src/runtime/runtime.ts";
import { commitUntilKnown } from "eventstore-less/store/commit_until_known.ts";
import { RETRY_LIMIT_MS } from "eventstore-less/store/resilience/resilient_store.ts";
import type { Commit, Key, Store, StoreEntry } from "eventstore-less/store/store.ts";

/**
 * Returns a function that commits as the only writer of a record, which was read as `found`. Each commit checks the
 * record, and its mutations must write or delete it. Resolves to `true` if the commit landed, and to `false` if one of
 * the given checks failed. `isOurs` recognises the commit by the value of a record that has changed. Rejects with
 * `lostError` if another writer changed it, or if the store has taken no commit for {@linkcode RETRY_LIMIT_MS}.
 */
export function guardRecord(
  store: Store,
  runtime: Runtime,
  { key, found, lostError }: { key: Key; found: StoreEntry | null; lostError: () => Error },
): (commit: Commit, isOurs: (value: unknown) => boolean) => Promise<boolean> {
  let guard = found?.versionstamp ?? null;
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
    if (outcome.state === "lost") throw lostError();
    if (outcome.state === "check_failed") return false;
    if (outcome.state !== "landed") {
      throw new Error("The store takes no commit", { cause: outcome.cause });
    }
    guard = outcome.versionstamp;
    return true;
  };
}
