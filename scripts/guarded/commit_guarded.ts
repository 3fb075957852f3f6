import type { Runtime } from "../../src/runtime/runtime.ts";
import {
  type Commit,
  commitUntilKnown,
  RETRY_LIMIT_MS,
  type Store,
  type StoreEntry,
} from "eventstore-less/store";

/**
 * Commits, and resolves to the versionstamp that the guard has then; to `undefined` if another commit changed the guard,
 * so that this one can no longer land. `isOurs` recognises the commit after the guard has changed. Rejects if the store
 * has taken no commit for {@linkcode RETRY_LIMIT_MS}.
 */
export async function commitGuarded(
  store: Store,
  runtime: Runtime,
  commit: Commit,
  isOurs: (guard: StoreEntry | null) => boolean | Promise<boolean>,
): Promise<{ versionstamp: string | null } | undefined> {
  const { key, versionstamp } = commit.guard;
  const deadline = runtime.monotonicNow() + RETRY_LIMIT_MS;
  const outcome = await commitUntilKnown(runtime, {
    guard: versionstamp,
    commit: () => store.commit(commit),
    readGuard: () => store.get(key),
    hasLanded: isOurs,
    isOver: () => runtime.monotonicNow() >= deadline,
  });
  if (outcome.state === "lost") return undefined;
  if (outcome.state === "landed") return outcome;
  throw new Error("The store takes no commit", { cause: outcome.cause });
}
