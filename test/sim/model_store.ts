import { encodeKey, encodeRange } from "../../src/store/key_encoding.ts";
import { KV_LIMITS } from "../../src/store/deno_kv/kv_store.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  SetMutation,
  Store,
  StoreEntry,
} from "../../src/store/store.ts";
import { VALUE_BYTES_LIMIT } from "../../src/store/store.ts";
import { StoreRefusedError } from "../../src/store/store_errors.ts";

interface Row {
  /** The encoded key, one character per byte, so that names sort as Deno KV sorts keys. */
  name: string;
  key: Key;
  value: Uint8Array;
  versionstamp: string;
  /** When the store removes the row, by its clock. */
  expiresAt: number;
}

export interface ModelStoreDeps {
  /** The store's clock, in milliseconds. */
  now: () => number;
  /** Delay of the removal of an expired row, in milliseconds. Deno KV does not remove rows immediately. */
  expiryLagMs: () => number;
}

/** A synchronous model of Deno KV in memory: key order, versionstamps, checks, ranges, expiry and limits. */
export class ModelStore implements Store {
  readonly limits = KV_LIMITS;
  #deps: ModelStoreDeps;
  #rows: Row[] = [];
  #version = 0;
  #nextExpiryAt = Infinity;
  #isClosed = false;

  constructor(deps: ModelStoreDeps = { now: () => Date.now(), expiryLagMs: () => 0 }) {
    this.#deps = deps;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return Promise.try(() => this.read(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return Promise.try(() => this.scan(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    return Promise.try(() => this.apply(commit));
  }

  close(): void {
    this.#isClosed = true;
  }

  /** Synchronous get(). */
  read(key: Key): StoreEntry | null {
    this.#expire();
    const row = this.#rowOf(nameOf(key));
    return row === undefined ? null : entryOf(row);
  }

  /** Synchronous list(). */
  scan(range: KeyRange, { limit, reverse = false }: ListOptions): StoreEntry[] {
    this.#expire();
    if (limit > KV_LIMITS.listEntries) throw new StoreRefusedError("Too many entries");
    const { start, end } = encodeRange(range);
    const [from, to] = [start, end].map((bound) => this.#indexOf(textOf(bound)));
    const rows = reverse
      ? this.#rows.slice(Math.max(from, to - limit), to).reverse()
      : this.#rows.slice(from, Math.min(to, from + limit));
    return rows.map(entryOf);
  }

  /** All entries below a prefix. */
  all(prefix: Key): StoreEntry[] {
    this.#expire();
    const { start, end } = encodeRange({ prefix });
    return this.#rows.slice(this.#indexOf(textOf(start)), this.#indexOf(textOf(end))).map(entryOf);
  }

  /** Synchronous commit(). */
  apply({ checks, mutations }: Commit): string | null {
    this.#expire();
    rejectOversize({ checks, mutations });
    for (const { key, versionstamp } of checks) {
      if ((this.#rowOf(nameOf(key))?.versionstamp ?? null) !== versionstamp) return null;
    }
    const versionstamp = (++this.#version).toString(16).padStart(16, "0") + "0000";
    for (const mutation of mutations) {
      const name = nameOf(mutation.key);
      const index = this.#indexOf(name);
      const found = this.#rows[index]?.name === name ? 1 : 0;
      const rows = mutation.type === "delete" ? [] : [this.#rowFor(name, mutation, versionstamp)];
      this.#rows.splice(index, found, ...rows);
    }
    return versionstamp;
  }

  #rowFor(name: string, { key, value, expireIn }: SetMutation, versionstamp: string): Row {
    const { now, expiryLagMs } = this.#deps;
    const expiresAt = expireIn === undefined ? Infinity : now() + expireIn + expiryLagMs();
    this.#nextExpiryAt = Math.min(this.#nextExpiryAt, expiresAt);
    return { name, key, value: value.slice(), versionstamp, expiresAt };
  }

  #rowOf(name: string): Row | undefined {
    const row = this.#rows[this.#indexOf(name)];
    return row?.name === name ? row : undefined;
  }

  /** The index of the first row that does not sort before the name. */
  #indexOf(name: string): number {
    let low = 0;
    let high = this.#rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#rows[middle].name < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Removes expired rows. Every operation calls it first. */
  #expire(): void {
    if (this.#isClosed) throw new Deno.errors.BadResource("Bad resource ID");
    const now = this.#deps.now();
    if (now < this.#nextExpiryAt) return;
    this.#rows = this.#rows.filter(({ expiresAt }) => expiresAt > now);
    this.#nextExpiryAt = Math.min(Infinity, ...this.#rows.map(({ expiresAt }) => expiresAt));
  }
}

/** The store and its callers never share a buffer. */
function entryOf({ key, value, versionstamp }: Row): StoreEntry {
  return { key: [...key], value: value.slice(), versionstamp };
}

function nameOf(key: Key): string {
  return textOf(encodeKey(key));
}

function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

function rejectOversize({ checks, mutations }: Commit): void {
  let keys = 0;
  let bytes = 0;
  for (const { key } of checks) bytes += encodeKey(key).length;
  for (const mutation of mutations) {
    const keyBytes = encodeKey(mutation.key).length;
    bytes += keyBytes;
    if (mutation.type === "delete") continue;
    const { length } = mutation.value;
    if (length > VALUE_BYTES_LIMIT) throw new StoreRefusedError("A value is too large");
    // Deno KV counts the key of a value twice.
    bytes += keyBytes + length;
    keys += keyBytes;
  }
  const { commitMutations, commitBytes, commitKeyBytes } = KV_LIMITS;
  if (mutations.length > commitMutations || bytes > commitBytes || keys > commitKeyBytes) {
    throw new StoreRefusedError("The commit is too large");
  }
}
