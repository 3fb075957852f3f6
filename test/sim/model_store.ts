import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { encodeKey, encodeRange, formatKey } from "../../src/eventstore_less/store/key_encoding.ts";
import {
  type Commit,
  expectListLimit,
  type Key,
  type KeyRange,
  type ListOptions,
  type Snapshot,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  type StoreLimits,
  VALUE_BYTES_LIMIT,
} from "../../src/eventstore_less/store/store.ts";
import { StoreRefusedError } from "../../src/eventstore_less/store/store_errors.ts";

/** Deno KV in memory: key order, versionstamps, checks, ranges and limits; also with synchronous calls. */
export class ModelStore implements Store {
  readonly limits: StoreLimits;
  /** By the texts of their keys. */
  #entries = new Map<string, StoreEntry & { value: Uint8Array }>();
  /** The texts of all keys, in order. */
  #keys: string[] = [];
  #version = 0;
  #isClosed = false;

  constructor(limits = STORE_LIMITS) {
    this.limits = limits;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#call(() => this.read(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return this.#call(() => this.scan(range, options));
  }

  snapshot(
    keys: readonly Key[],
    ranges: readonly KeyRange[],
    options: ListOptions,
  ): Promise<Snapshot> {
    return this.#call(() => this.view(keys, ranges, options));
  }

  commit(commit: Commit): Promise<string | null> {
    return this.#call(() => this.apply(commit));
  }

  close(): void {
    this.#isClosed = true;
  }

  #call<T>(perform: () => T): Promise<T> {
    return Promise.try(() => {
      if (this.#isClosed) throw new Error("The store is closed");
      return perform();
    });
  }

  read(key: Key): StoreEntry | null {
    const text = textOf(encodeKey(key));
    return this.#entries.has(text) ? this.#copyOf(text) : null;
  }

  scan(range: KeyRange, { limit, reverse = false }: ListOptions): StoreEntry[] {
    expectListLimit({ limit });
    const keys = this.#keysIn(range);
    if (reverse) keys.reverse();
    return keys.slice(0, limit).map((key) => this.#copyOf(key));
  }

  view(keys: readonly Key[], ranges: readonly KeyRange[], options: ListOptions): Snapshot {
    expectListLimit(options);
    const entries = keys.map((key) => this.read(key));
    const lists = ranges.map((range) => this.scan(range, options));
    return { entries, lists };
  }

  all(prefix: Key): StoreEntry[] {
    return this.#keysIn({ prefix }).map((key) => this.#copyOf(key));
  }

  apply(commit: Commit): string | null {
    const { guard, mutations } = commit;
    expectGuardChange(commit);
    rejectOversize(commit, this.limits);
    if ((this.read(guard.key)?.versionstamp ?? null) !== guard.versionstamp) return null;
    const versionstamp = (++this.#version).toString(16).padStart(16, "0") + "0000";
    for (const mutation of mutations) {
      if (mutation.type === "delete") this.#delete(mutation.key);
      else this.#set({ key: mutation.key, value: mutation.value.slice(), versionstamp });
    }
    return versionstamp;
  }

  #set(entry: StoreEntry & { value: Uint8Array }): void {
    const text = textOf(encodeKey(entry.key));
    if (!this.#entries.has(text)) this.#keys.splice(this.#indexOf(text), 0, text);
    this.#entries.set(text, entry);
  }

  #delete(key: Key): void {
    const text = textOf(encodeKey(key));
    if (this.#entries.delete(text)) this.#keys.splice(this.#indexOf(text), 1);
  }

  #keysIn(range: KeyRange): string[] {
    const { start, end } = encodeRange(range);
    return this.#keys.slice(this.#indexOf(textOf(start)), this.#indexOf(textOf(end)));
  }

  /** The entry, whose bytes its reader may change. */
  #copyOf(key: string): StoreEntry {
    const { value, ...entry } = this.#entries.get(key)!;
    return { ...entry, value: value.slice() };
  }

  /** Number of the keys before a text. */
  #indexOf(text: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#keys[middle] < text) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A text with a character for each byte: texts have the order of the bytes. */
function textOf(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}

/** Throws if a commit does not change its guard, or changes the head without it as the guard. */
function expectGuardChange({ guard, mutations }: Commit): void {
  const changed = mutations.map(({ key }) => formatKey(key));
  const guardKey = formatKey(guard.key);
  if (!changed.includes(guardKey)) {
    throw new Error(`A commit does not change its guard ${guardKey}`);
  }
  const headKey = formatKey(HEAD_KEY);
  if (guardKey !== headKey && changed.includes(headKey)) {
    throw new Error("A commit changes the head, which is not its guard");
  }
}

function rejectOversize({ guard, mutations }: Commit, limits: StoreLimits): void {
  let keys = 0;
  let bytes = encodeKey(guard.key).length;
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
  const { commitMutations, commitBytes, commitKeyBytes } = limits;
  if (mutations.length > commitMutations || bytes > commitBytes || keys > commitKeyBytes) {
    throw new StoreRefusedError("The commit is too large");
  }
}
