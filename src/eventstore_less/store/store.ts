import { StoreRefusedError } from "./store_errors.ts";

/** The port to a key-value store: strongly consistent, ordered by key. `store_errors.ts` has its errors. */
export interface Store {
  /** The limits that every caller keeps. */
  readonly limits: StoreLimits;
  /** Reads an entry; `null` if there is none. */
  get(key: Key): Promise<StoreEntry | null>;
  /** Reads at most `limit` entries of one snapshot, in key order or reversed. */
  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]>;
  /**
   * Reads any number of records, and of each range what list() would, all at one moment. Rejects with `NotAppliedError`
   * if commits come between the parts of a large snapshot over KV Connect, or of any snapshot of an attached Deno KV.
   */
  snapshot(
    keys: readonly Key[],
    ranges: readonly KeyRange[],
    options: ListOptions,
  ): Promise<Snapshot>;
  /**
   * Commits all mutations or none. Resolves to the new versionstamp, or to `null` if the guard has changed, perhaps by
   * an earlier copy of this commit. After a rejection, `mayHaveLanded()` says whether it may have landed.
   */
  commit(commit: Commit): Promise<string | null>;
  /** Releases the store. Calls in flight reject, or never settle. Call it once. */
  close(): void;
  /** Replaces a network connection. Rejects while the store is away. After the signal aborts, no request is in flight. */
  reopen?(signal: AbortSignal): Promise<void>;
}

/**
 * The limits of Deno KV, documented (https://docs.deno.com/deploy/kv/transactions/#limits) and measured. With them, a
 * commit to PostgreSQL, too, is quick, and large enough for every command that can wait.
 */
export const STORE_LIMITS = {
  /** Deno KV allows 1,000. Over 500, its npm client reads two snapshots, and lists outlast V8's young generation. */
  listEntries: 500,
  /** Number of mutations in a commit. */
  commitMutations: 1_000,
  /** Size of all keys and values of a commit, counted as in `fillOf()`. */
  commitBytes: 819_200,
  /** Size of all keys that a commit writes. */
  commitKeyBytes: 81_920,
};
/** The limits of a store. */
export type StoreLimits = typeof STORE_LIMITS;

/** Size of a value that every store accepts. It limits the lines of the log, because an export must fit into any store. */
export const VALUE_BYTES_LIMIT = 65_536;

/**
 * Keys sort part by part: bytes, then texts by their UTF-8 bytes, then numbers. A key sorts directly before those that
 * begin with it. Keys of other programs in a Deno KV may also have bigints and booleans, which pass through the store.
 */
export type Key = readonly KeyPart[];
/** A part of a key. */
export type KeyPart = string | number | Uint8Array;

/** Keys from `start` to `end` (exclusive), or all longer keys that begin with `prefix`, or those from `start` on. */
export type KeyRange =
  | { start: Key; end: Key; prefix?: undefined }
  | { prefix: Key; start?: Key; end?: undefined };

/** A record as a store has it. */
export interface StoreEntry {
  /** The key of the record. */
  key: Key;
  /** Bytes, unless another program or an earlier version has written it. */
  value: unknown;
  /** Changes with every commit that writes the key; sorts as text in commit order. */
  versionstamp: string;
}

/** Entries of a store, all read at one moment. */
export interface Snapshot {
  /** The entry of each key, in the order of the keys. */
  entries: (StoreEntry | null)[];
  /** The entries in each range, in the order of the ranges. */
  lists: StoreEntry[][];
}

/** How much of a range to read. */
export interface ListOptions {
  /** Maximum number of entries in each range, at most `listEntries` of the limits. */
  limit: number;
  /** Whether to read from the end of the range. By default, from its start. */
  reverse?: boolean;
}

/** Throws `StoreRefusedError` if a list may be longer than any store allows. */
export function expectListLimit({ limit }: ListOptions): void {
  const { listEntries } = STORE_LIMITS;
  if (limit > listEntries) throw new StoreRefusedError(`Too many entries (max ${listEntries})`);
}

/** Only a commit with the head as its guard may change the head. */
export interface Commit {
  /** The one record that the commit checks. Its mutations set or delete it, so one commit follows each version of it. */
  guard: Guard;
  /** What the commit writes and deletes, each key at most once. */
  mutations: Mutation[];
}

/** A record, and the versionstamp that it must still have; `null` if it must not exist. */
export interface Guard {
  /** The key of the record. */
  key: Key;
  /** The version that the record must have. */
  versionstamp: string | null;
}

const NEVER_STORED = ["writable"];

/** A commit that changes no record, and shows whether the file of a store can be written. */
export const WRITE_PROBE: Commit = {
  guard: { key: NEVER_STORED, versionstamp: null },
  mutations: [{ type: "delete", key: NEVER_STORED }],
};

/** A record to write, or the key of one to delete. To delete a missing record is no error. */
export type Mutation = SetMutation | { type: "delete"; key: Key };

/** A record to write. */
export interface SetMutation {
  /** It writes. */
  type: "set";
  /** The key of the record. */
  key: Key;
  /** At most {@linkcode VALUE_BYTES_LIMIT} bytes. The caller may change them after the call. */
  value: Uint8Array;
}
