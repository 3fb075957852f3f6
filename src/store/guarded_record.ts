import type { Runtime } from "../runtime/runtime.ts";
import { commitUntilKnown } from "./commit_until_known.ts";
import { RETRY_LIMIT_MS } from "./resilience/resilient_store.ts";
import type { Commit, Key, Store } from "./store.ts";

export interface GuardedRecordOptions {
  key: Key;
  /** The versionstamp of the record as it was read; `null` if it does not exist. */
  versionstamp: string | null;
  /** The error if another writer has changed the record. */
  lostError: () => Error;
}

/** A record that only one writer at a time may hold. Each of its commits checks the record and replaces it. */
export class GuardedRecord {
  #store: Store;
  #runtime: Runtime;
  #options: GuardedRecordOptions;

  constructor(store: Store, runtime: Runtime, options: GuardedRecordOptions) {
    this.#store = store;
    this.#runtime = runtime;
    this.#options = { ...options };
  }

  /**
   * Commits mutations, which must write or delete the record. Resolves to `true` if the commit landed, and to
   * `false` if one of the given checks failed. `isOurs` recognises the commit by the value of a record that has
   * changed. Rejects with `lostError`, or if the store has taken no commit for {@linkcode RETRY_LIMIT_MS}.
   */
  async commit(
    { checks, mutations }: Commit,
    isOurs: (value: unknown) => boolean,
  ): Promise<boolean> {
    const { key, versionstamp: guard, lostError } = this.#options;
    const commit = { checks: [{ key, versionstamp: guard }, ...checks], mutations };
    const deadline = this.#runtime.monotonicNow() + RETRY_LIMIT_MS;
    const outcome = await commitUntilKnown(this.#runtime, {
      guard,
      commit: () => this.#store.commit(commit),
      readGuard: () => this.#store.get(key),
      hasLanded: (entry) => isOurs(entry?.value),
      checksOthers: checks.length > 0,
      isOver: () => this.#runtime.monotonicNow() >= deadline,
    });
    switch (outcome.state) {
      case "landed":
        this.#options.versionstamp = outcome.versionstamp;
        return true;
      case "check_failed":
        return false;
      case "lost":
        throw lostError();
      default:
        throw new Error("The store takes no commit", { cause: outcome.cause });
    }
  }
}
