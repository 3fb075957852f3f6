import type { Kv, KvCheck, KvEntry, KvKey, KvSelector } from "this-runtime/kv.ts";
import { type Key, type KeyRange, type Store, STORE_LIMITS, type StoreEntry } from "../store.ts";
import { decoded, withTypedErrors } from "../sqlite/sqlite_errors.ts";
import { StoreReadOnlyError, StoreRefusedError } from "../store_errors.ts";

/** A store on a Deno KV: in memory, in a SQLite file, or over the network by KV Connect. */
export class KvStore implements Store {
  readonly limits = STORE_LIMITS;
  #kv: Kv | undefined;
  #reader: Store | undefined;

  /** With a reader of the same file, all reads use it. Without a Deno KV, there must be a reader, and each commit fails. */
  constructor(kv: Kv, reader?: Store);
  constructor(kv: undefined, reader: Store);
  constructor(kv: Kv | undefined, reader?: Store) {
    this.#kv = kv;
    this.#reader = reader;
  }

  get: Store["get"] = async (key) => (await this.getMany([key]))[0];

  getMany: Store["getMany"] = (keys) =>
    withTypedErrors(async () => {
      if (this.#reader !== undefined) return (await this.#reader.getMany(keys)).map(decoded);
      const entries = await this.#kv!.getMany(keys as readonly unknown[] as KvKey[]);
      return entries.map(storeEntry);
    });

  list: Store["list"] = (range, { limit, reverse = false }) =>
    withTypedErrors(async () => {
      const { listEntries } = this.limits;
      if (limit > listEntries) throw new StoreRefusedError(`Too many entries (max ${listEntries})`);
      if (this.#reader !== undefined) {
        return (await this.#reader.list(range, { limit, reverse })).map(decoded);
      }
      // KV reads each batch from one snapshot, so one batch must hold the whole result.
      const options = { limit, reverse, batchSize: limit };
      const entries = await Array.fromAsync(this.#kv!.list(selectorOf(range), options));
      return entries.map((entry) => storeEntry(entry)!);
    });

  commit: Store["commit"] = ({ checks, mutations }) =>
    withTypedErrors(async () => {
      if (this.#kv === undefined) throw new StoreReadOnlyError();
      const atomic = this.#kv.atomic().check(...checks as KvCheck[]);
      for (const mutation of mutations) {
        if (mutation.type === "delete") atomic.delete(mutation.key);
        else atomic.set(mutation.key, mutation.value);
      }
      const result = await atomic.commit();
      return result.ok ? result.versionstamp : null;
    });

  close = (): void => {
    // The last to close the file writes the log of SQLite into it, and a reader cannot.
    this.#reader?.close();
    this.#kv?.close();
  };
}

function selectorOf({ prefix, start, end }: KeyRange): KvSelector {
  if (prefix === undefined) return { start, end };
  // From its first possible key on: in reverse, the client from npm would list the prefix itself, too.
  return { prefix, start: start ?? [...prefix, new Uint8Array()] };
}

function storeEntry({ key, value, versionstamp }: KvEntry): StoreEntry | null {
  if (versionstamp === null) return null;
  // The client from npm returns a part of the whole answer, which would stay in memory with the value.
  const isPart = value instanceof Uint8Array && value.length < value.buffer.byteLength;
  return { key: key as Key, value: isPart ? value.slice() : value, versionstamp };
}
