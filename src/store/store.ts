/**
 * The port to the key-value store, with the semantics of Deno KV: strongly consistent, ordered by
 * key, atomic commits with optimistic checks (https://docs.deno.com/deploy/kv/). A call that met a lock
 * rejects with `NotAttemptedError`.
 */
export interface Store {
  get(key: Deno.KvKey): Promise<StoreEntry | null>;
  /**
   * Reads at most `limit` entries of one snapshot, in key order or reversed. The maximum of `limit` is
   * {@linkcode LIST_LIMIT}.
   */
  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]>;
  /**
   * Commits all mutations or none. Resolves to the new versionstamp, or to `null` if a check failed.
   * After `null` or a rejection, this commit may still have landed: a client that resends a commit gets
   * a conflict with its own first attempt. Only a `NotAttemptedError` rules that out.
   */
  commit(commit: Commit): Promise<string | null>;
  /** Releases the store. Calls in flight reject, or never settle. Call it once. */
  close(): void;
  /** The connection of a store that is reached over a network. A local store has none. */
  readonly connection?: StoreConnection;
}

export interface StoreConnection {
  /**
   * Replaces the connection with a new one. Call it after a call hung or failed. Rejects while the store
   * is away. After the signal aborts, it has no request in flight.
   */
  reopen(signal: AbortSignal): Promise<void>;
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
  /** The versionstamps that the keys must still have; `null` if the key must not exist. */
  checks: { key: Deno.KvKey; versionstamp: string | null }[];
  mutations: Mutation[];
}

export type Mutation =
  | { type: "set"; key: Deno.KvKey; value: string | Uint8Array; expireIn?: number }
  | { type: "delete"; key: Deno.KvKey };

/** Limits of Deno KV, documented (https://docs.deno.com/deploy/kv/transactions/#limits) and measured. */
export const LIST_LIMIT = 1_000;
export const COMMIT_MUTATIONS_LIMIT = 1_000;
export const COMMIT_BYTES_LIMIT = 819_200;
export const COMMIT_KEY_BYTES_LIMIT = 81_920;
