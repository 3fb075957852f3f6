import type { Runtime } from "../../runtime/runtime.ts";
import { commitUntilKnown } from "../../store/commit_until_known.ts";
import { RETRY_LIMIT_MS } from "../../store/resilience/resilient_store.ts";
import type { Commit, Store, StoreEntry } from "../../store/store.ts";
import { ToolError } from "../tool_error.ts";

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
  throw new ToolError("commit_failed", "The store takes no commit", { cause: outcome.cause });
}
