import { KV_LIMITS } from "../../src/store/deno_kv/kv_store.ts";
import type {
  Commit,
  ExpiringRecord,
  Key,
  KeyPart,
  KeyRange,
  ListOptions,
  Mutation,
  Store,
  StoreEntry,
} from "../../src/store/store.ts";
import { VALUE_BYTES_LIMIT } from "../../src/store/store.ts";
import { StoreRefusedError } from "../../src/store/store_errors.ts";

/** Limits in bytes: https://docs.deno.com/deploy/kv/#limits */
const KEY_BYTES_LIMIT = 2_048;

interface Row {
  /** The key as text that sorts as Deno KV sorts keys. */
  name: string;
  key: Key;
  value: string | Uint8Array;
  versionstamp: string;
  /** When the store removes the row, by its clock. */
  expiresAt: number;
}

export interface ModelStoreDeps {
  /** The store's clock, in milliseconds. */
  now: () => number;
  /** Delay of the removal of an expired row, in milliseconds. Deno KV does not remove rows immediately. */
  expiryLagMs: () => number;
  /** Called synchronously with every commit that was applied. */
  committed?: (commit: Commit) => void;
}

/**
 * An exact synchronous model of Deno KV in memory: key order, versionstamps, checks, ranges, expiry and
 * limits. It supports only the types of key parts that the service uses.
 */
export class ModelStore implements Store {
  readonly limits = KV_LIMITS;
  #deps: ModelStoreDeps;
  #rows: Row[] = [];
  #version = 0;
  #nextExpiryAt = Infinity;
  #isClosed = false;

  constructor(
    deps: ModelStoreDeps = { now: () => Date.now(), expiryLagMs: () => 0 },
  ) {
    this.#deps = deps;
  }

  // deno-lint-ignore require-await -- a thrown error must become a rejection
  async get(key: Key): Promise<StoreEntry | null> {
    return this.read(key);
  }

  // deno-lint-ignore require-await -- a thrown error must become a rejection
  async list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return this.scan(range, options);
  }

  // deno-lint-ignore require-await -- a thrown error must become a rejection
  async commit(commit: Commit): Promise<string | null> {
    return this.apply(commit);
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
  scan(selector: KeyRange, { limit, reverse = false }: ListOptions): StoreEntry[] {
    this.#expire();
    if (limit > KV_LIMITS.listEntries) {
      throw new StoreRefusedError(`Too many entries (max ${KV_LIMITS.listEntries})`);
    }
    const { start, end } = rangeOf(selector);
    const [from, to] = [this.#indexOf(start), this.#indexOf(end)];
    const rows = reverse
      ? this.#rows.slice(Math.max(from, to - limit), to).reverse()
      : this.#rows.slice(from, Math.min(to, from + limit));
    return rows.map(entryOf);
  }

  /** All records with an expiry, except idempotency records. */
  *expiringRecords(): Generator<ExpiringRecord> {
    for (const { key, expiresAt } of this.#rows) {
      if (expiresAt === Infinity || key[2] === "pet_by_idempotency_key") continue;
      yield { key, expiresAt };
    }
  }

  /** Synchronous commit(). */
  apply(commit: Commit): string | null {
    this.#expire();
    rejectOversize(commit);
    for (const { key, versionstamp } of commit.checks) {
      if ((this.#rowOf(nameOf(key))?.versionstamp ?? null) !== versionstamp) return null;
    }
    const versionstamp = (++this.#version).toString(16).padStart(16, "0") + "0000";
    for (const mutation of commit.mutations) {
      const { key } = mutation;
      const name = nameOf(key);
      const index = this.#indexOf(name);
      const found = this.#rows[index]?.name === name ? 1 : 0;
      if (mutation.type === "delete") {
        this.#rows.splice(index, found);
        continue;
      }
      const { expireIn } = mutation;
      const expiresAt = expireIn === undefined
        ? Infinity
        : this.#deps.now() + expireIn + this.#deps.expiryLagMs();
      this.#nextExpiryAt = Math.min(this.#nextExpiryAt, expiresAt);
      const row = {
        name,
        key: key.map(wellFormed),
        value: copyOf(mutation.value),
        versionstamp,
        expiresAt,
      };
      this.#rows.splice(index, found, row);
    }
    this.#deps.committed?.(commit);
    return versionstamp;
  }

  /**
   * Applies a mutation without calling `committed`, as if somebody changed the store from a shell. If
   * `restartsVersions`, it gets the first version again, as in a database without the value of its sequence.
   */
  damage(mutation: Mutation, restartsVersions = false): void {
    const { committed } = this.#deps;
    const version = this.#version;
    this.#deps.committed = undefined;
    if (restartsVersions) this.#version = 0;
    this.apply({ checks: [], mutations: [mutation] });
    this.#version = Math.max(this.#version, version);
    this.#deps.committed = committed;
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

function entryOf({ key, value, versionstamp }: Row): StoreEntry {
  return { key: [...key], value: copyOf(value), versionstamp };
}

/** The store and its callers never share a buffer. */
function copyOf(value: string | Uint8Array): string | Uint8Array {
  return typeof value === "string" ? value : value.slice();
}

/** Deno KV replaces lone surrogates in keys with U+FFFD. */
function wellFormed(part: KeyPart): KeyPart {
  return typeof part === "string" ? part.toWellFormed() : part;
}

/** The range as names: start inclusive, end exclusive. */
function rangeOf(selector: KeyRange): { start: string; end: string } {
  const { prefix, start, end } = selector;
  if (prefix === undefined) {
    const range = { start: nameOf(start), end: nameOf(end) };
    if (range.start > range.end) throw new StoreRefusedError("Start key is greater than end key");
    return range;
  }
  const name = nameOf(prefix);
  const startName = start === undefined ? `${name}\x00` : nameOf(start);
  if (!startName.startsWith(name) || startName === name) {
    throw new StoreRefusedError("The start is not in the prefix");
  }
  return { start: startName, end: `${name}\xff` };
}

const encoder = new TextEncoder();

/**
 * The key in Deno KV's encoding, one character per byte, so that names sort as Deno KV sorts keys
 * (https://docs.deno.com/deploy/kv/key_space/#key-part-ordering).
 */
function nameOf(key: Key): string {
  let name = "";
  for (const part of key) name += partName(part);
  return name;
}

function partName(part: KeyPart): string {
  if (typeof part === "string") return `\x02${escaped(encoder.encode(part))}\x00`;
  if (typeof part === "number") return `\x21${sortableDouble(part)}`;
  if (part instanceof Uint8Array) return `\x01${escaped(part)}\x00`;
  throw new TypeError(`The model does not support a ${typeof part} in a key`);
}

function escaped(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += byte === 0 ? "\x00\xff" : String.fromCharCode(byte);
  return text;
}

function sortableDouble(value: number): string {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const isNegative = (view.getUint8(0) & 0x80) !== 0;
  let text = "";
  for (let index = 0; index < 8; index++) {
    const byte = view.getUint8(index);
    const flip = isNegative ? 0xff : index === 0 ? 0x80 : 0;
    text += String.fromCharCode(byte ^ flip);
  }
  return text;
}

function rejectOversize({ checks, mutations }: Commit): void {
  if (mutations.length > KV_LIMITS.commitMutations) {
    throw new StoreRefusedError(`Too many mutations (max ${KV_LIMITS.commitMutations})`);
  }
  let keyBytes = 0;
  let bytes = 0;
  for (const { key } of checks) bytes += keyBytesOf(key);
  for (const mutation of mutations) {
    const keyLength = keyBytesOf(mutation.key);
    bytes += keyLength;
    if (mutation.type === "delete") continue;
    // Deno KV counts the key of a value twice.
    keyBytes += keyLength;
    bytes += keyLength + valueBytesOf(mutation.value);
  }
  if (bytes > KV_LIMITS.commitBytes) {
    throw new StoreRefusedError(
      `Total mutation size too large (max ${KV_LIMITS.commitBytes} bytes)`,
    );
  }
  if (keyBytes > KV_LIMITS.commitKeyBytes) {
    throw new StoreRefusedError(`Total key size too large (max ${KV_LIMITS.commitKeyBytes} bytes)`);
  }
}

function keyBytesOf(key: Key): number {
  const bytes = nameOf(key).length;
  if (bytes <= KEY_BYTES_LIMIT) return bytes;
  throw new StoreRefusedError(`Key too large for write (max ${KEY_BYTES_LIMIT} bytes)`);
}

function valueBytesOf(value: string | Uint8Array): number {
  const bytes = typeof value === "string" ? serializedBytesOf(value) : value.length;
  if (bytes <= VALUE_BYTES_LIMIT) return bytes;
  throw new StoreRefusedError(`Value too large (max ${VALUE_BYTES_LIMIT} bytes)`);
}

/** Size of a string as serialised by V8: three bytes, its length and its characters. */
function serializedBytesOf(text: string): number {
  // deno-lint-ignore no-control-regex -- Latin-1 begins with control characters
  if (/^[\x00-\xff]*$/.test(text)) return 3 + varintBytesOf(text.length) + text.length;
  // A string outside Latin-1 takes two bytes per character, and begins at an even offset.
  const before = 3 + varintBytesOf(2 * text.length);
  return before + before % 2 + 2 * text.length;
}

function varintBytesOf(value: number): number {
  return value < 2 ** 7 ? 1 : value < 2 ** 14 ? 2 : 3;
}
