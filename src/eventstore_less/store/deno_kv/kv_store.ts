import type { Kv, KvEntry, KvKey, KvSelector } from "../../runtime/kv.ts";
import {
  expectListLimit,
  type Key,
  type KeyRange,
  type ListOptions,
  type Snapshot,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
} from "../store.ts";
import { NotAppliedError } from "../store_errors.ts";
import { withKvReadErrors } from "./kv_errors.ts";
import { KvWriter } from "./kv_writer.ts";

/** Maximum number of keys of one read (https://docs.deno.com/deploy/kv/transactions/#limits). */
const GET_MANY_LIMIT = 10;

/** Maximum number of times that the parts of a snapshot are read, until no commit comes between. */
const SNAPSHOT_ATTEMPTS = 30;

/** A store on a Deno KV that a platform attaches. A file has a faster reader: `SqliteStore`. */
export class KvStore implements Store {
  readonly limits = STORE_LIMITS;
  #kv: Kv;
  #headKey: Key;
  #writer: KvWriter;

  /** Commits that replace the record with the key of the head do not come between the parts of a snapshot. */
  constructor(kv: Kv, headKey: Key) {
    this.#kv = kv;
    this.#headKey = headKey;
    this.#writer = new KvWriter(kv);
  }

  get: Store["get"] = async (key) => (await this.#getMany([key]))[0];

  #getMany(keys: readonly Key[]): Promise<(StoreEntry | null)[]> {
    return withKvReadErrors(async () => {
      const entries = await this.#kv.getMany(keys as readonly unknown[] as KvKey[]);
      return entries.map(storeEntry);
    });
  }

  list: Store["list"] = (range, options) =>
    withKvReadErrors(async () => {
      expectListLimit(options);
      // KV reads each batch from one snapshot, so one batch must hold the whole result.
      const batch = { ...options, batchSize: options.limit };
      const entries = await Array.fromAsync(this.#kv.list(selectorOf(range), batch));
      return entries.map((entry) => storeEntry(entry)!);
    });

  /** Deno KV has no snapshot of several ranges, so the parts are read until the head is the same before and after them. */
  snapshot: Store["snapshot"] = async (keys, ranges, options) => {
    expectListLimit(options);
    let head = await this.get(this.#headKey);
    for (let attempt = 1; attempt <= SNAPSHOT_ATTEMPTS; attempt++) {
      const parts = await this.#readParts(keys, ranges, options);
      const newer = await this.get(this.#headKey);
      if (newer?.versionstamp === head?.versionstamp) return parts;
      head = newer;
    }
    throw new NotAppliedError(`Commits came between ${SNAPSHOT_ATTEMPTS} reads of a snapshot`);
  };

  async #readParts(
    keys: readonly Key[],
    ranges: readonly KeyRange[],
    options: ListOptions,
  ): Promise<Snapshot> {
    const groups: Key[][] = [];
    for (let first = 0; first < keys.length; first += GET_MANY_LIMIT) {
      groups.push(keys.slice(first, first + GET_MANY_LIMIT));
    }
    const [entries, lists] = await Promise.all([
      Promise.all(groups.map((group) => this.#getMany(group))),
      Promise.all(ranges.map((range) => this.list(range, options))),
    ]);
    return { entries: entries.flat(), lists };
  }

  commit: Store["commit"] = (commit) => this.#writer.commit(commit);

  close(): void {
    this.#writer.close();
  }
}

function selectorOf({ prefix, start, end }: KeyRange): KvSelector {
  return prefix === undefined ? { start, end } : { prefix, start };
}

function storeEntry({ key, value, versionstamp }: KvEntry): StoreEntry | null {
  return versionstamp === null ? null : { key: key as Key, value, versionstamp };
}
