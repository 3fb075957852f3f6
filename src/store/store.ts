/**
 * The port to the key-value store, with the semantics of Deno KV: strongly consistent, ordered by
 * key, atomic commits with optimistic checks (https://docs.deno.com/deploy/kv/).
 */
export interface Store {
  get(key: Deno.KvKey): Promise<StoreEntry | null>;
  /** At most `limit` entries (up to {@linkcode LIST_LIMIT}) in key order or backwards, of one snapshot. */
  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]>;
  /**
   * Does all of it or nothing. Resolves to the new versionstamp, or to `null` where a check did not
   * hold. A `null` or a rejection leaves open whether this very commit landed: a client that sends a
   * commit again is told of the conflict with itself.
   */
  commit(commit: Commit): Promise<string | null>;
  /**
   * Connects anew, where there is a connection. To be called when a call hung or failed; rejects while
   * the store is away, and has nothing in flight any more once the signal has aborted.
   */
  reconnect?(signal: AbortSignal): Promise<void>;
  /** Frees the store; what is in flight is rejected, or hangs for good. To be called once. */
  close(): void;
}

export interface StoreEntry {
  key: Deno.KvKey;
  value: unknown;
  /** Changes with every commit that writes the key; sorts as text in commit order. */
  versionstamp: string;
}

export interface ListOptions {
  limit: number;
  reverse?: boolean;
}

export interface Commit {
  /** What must not have been written since; `null` stands for a key that is not there. */
  checks: { key: Deno.KvKey; versionstamp: string | null }[];
  mutations: Mutation[];
}

export type Mutation =
  | { type: "set"; key: Deno.KvKey; value: string | Uint8Array; expireIn?: number }
  | { type: "delete"; key: Deno.KvKey };

/** Limits of Deno KV: https://docs.deno.com/deploy/kv/transactions/#limits, and measured. */
export const LIST_LIMIT = 1_000;
export const COMMIT_MUTATIONS_LIMIT = 1_000;
export const COMMIT_BYTES_LIMIT = 819_200;
export const COMMIT_KEY_BYTES_LIMIT = 81_920;
