import { type Key, type KeyRange, type Store, STORE_LIMITS, type StoreEntry } from "../store.ts";
import { damageOf } from "./file_damage.ts";
import {
  NotAppliedError,
  StoreDamagedError,
  StoreError,
  StoreFullError,
  StoreRefusedError,
  UnclearOutcomeError,
} from "../store_errors.ts";

/** Opens a Deno KV; without a path, the database that the platform attaches. */
export const openKv = (path?: string): Promise<Deno.Kv> => Deno.openKv(path);

interface KvStoreOptions {
  /** A reader of the same file, to which all reads go. */
  reader?: Store;
  /** Commits in the place of Deno KV. */
  commit?: Store["commit"];
  onClose?: () => void;
}

/** A store on a Deno KV: in memory, in a SQLite file, or over the network by KV Connect. */
export class KvStore implements Store {
  readonly limits = STORE_LIMITS;
  #kv: Deno.Kv;
  #options: KvStoreOptions;

  constructor(kv: Deno.Kv, options: KvStoreOptions = {}) {
    this.#kv = kv;
    this.#options = options;
  }

  get: Store["get"] = (key) =>
    withTypedErrors(async () => {
      const { reader } = this.#options;
      if (reader !== undefined) return decoded(await reader.get(key));
      const entry = await this.#kv.get(key);
      return entry.versionstamp === null ? null : storeEntry(entry);
    });

  getMany: Store["getMany"] = (keys) =>
    withTypedErrors(async () => {
      const { reader } = this.#options;
      if (reader !== undefined) return (await reader.getMany(keys)).map(decoded);
      const entries = await this.#kv.getMany(keys as readonly unknown[] as Deno.KvKey[]);
      return entries.map((entry) => entry.versionstamp === null ? null : storeEntry(entry));
    });

  list: Store["list"] = (range, { limit, reverse = false }) =>
    withTypedErrors(async () => {
      const { listEntries } = this.limits;
      if (limit > listEntries) throw new StoreRefusedError(`Too many entries (max ${listEntries})`);
      const { reader } = this.#options;
      if (reader !== undefined) return (await reader.list(range, { limit, reverse })).map(decoded);
      // KV reads each batch from one snapshot, so one batch must hold the whole result.
      const options = { limit, reverse, batchSize: limit };
      return (await Array.fromAsync(this.#kv.list(selectorOf(range), options))).map(storeEntry);
    });

  commit: Store["commit"] = ({ checks, mutations }) =>
    withTypedErrors(async () => {
      const { commit } = this.#options;
      if (commit !== undefined) return await commit({ checks, mutations });
      const atomic = this.#kv.atomic().check(...checks as Deno.AtomicCheck[]);
      for (const mutation of mutations) {
        if (mutation.type === "delete") atomic.delete(mutation.key);
        else atomic.set(mutation.key, mutation.value, { expireIn: mutation.expireIn });
      }
      const result = await atomic.commit();
      return result.ok ? result.versionstamp : null;
    });

  close(): void {
    // The last to close the file writes the log of SQLite into it, and a reader cannot.
    this.#options.reader?.close();
    this.#kv.close();
    this.#options.onClose?.();
  }
}

/**
 * Begins a prefix at its first possible key. Otherwise the client from npm lists the prefix itself, too, in
 * reverse order.
 */
function selectorOf({ prefix, start, end }: KeyRange): Deno.KvListSelector {
  return prefix === undefined
    ? { start, end }
    : { prefix, start: start ?? [...prefix, new Uint8Array()] };
}

/** Throws the error of a reader about a value that it could not decode. */
function decoded<Entry extends StoreEntry | null>(entry: Entry): Entry {
  if (entry?.value instanceof StoreDamagedError) throw entry.value;
  return entry;
}

function storeEntry({ key, value, versionstamp }: Deno.KvEntry<unknown>): StoreEntry {
  // The client from npm returns a part of the whole answer, which would stay in memory with the value.
  const isPart = value instanceof Uint8Array && value.length < value.buffer.byteLength;
  return { key: key as Key, value: isPart ? value.slice() : value, versionstamp };
}

/** The messages of the errors with which Deno KV and its client from npm refuse a call before they send it. */
const REFUSALS =
  /^(Key|Value|Total mutation size|Total key size) too large |^Too many (mutations|checks|entries) |^([Kk]ey cannot be empty$|Invalid check$|Start key |End key |expireIn must be |Bad 'expireIn')/;

/** Makes a call. Deno KV's errors have no type of their own, so their messages decide. */
async function withTypedErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const { message } = error as Error;
    if (message.includes("database is locked")) {
      throw new NotAppliedError("Another process keeps the store's file locked");
    }
    // SQLite could not write the whole commit to its write-ahead log, so no recovery will apply it.
    if (message === "database or disk is full") throw new StoreFullError({ cause: error });
    const damage = damageOf(error);
    if (damage !== undefined) throw damage;
    if (REFUSALS.test(message)) throw new StoreRefusedError(message);
    throw new UnclearOutcomeError(message);
  }
}
