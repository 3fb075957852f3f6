import { setImmediate as nextTurn } from "node:timers/promises";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { deserialize } from "node:v8";
import { decodeKey, encodeKey, encodeRange } from "../key_encoding.ts";
import type { Key, KeyRange, ListOptions, StoreEntry } from "../store.ts";

/** How Deno KV marks a value that V8 serialised, such as a text, in the column `v_encoding`. */
const V8_ENCODING = 1;

/** A versionstamp is a version in 16 hexadecimal digits, and four zeros. */
const VERSION_DIGITS = 16;

interface Row {
  k: Uint8Array;
  v: Uint8Array;
  v_encoding: number;
  version: number;
}

/**
 * Reads the SQLite file of a Deno KV. Its handle has one thread, so a read on it waits until the disk has stored
 * the commits before it. A second handle would read at once, except while it removes expired records: it then
 * waits for the file's lock, for seconds on a slow disk. A read here sees every commit that was acknowledged
 * before it. It blocks the thread, some 10 µs for a record in memory.
 */
export class KvFileReader {
  #database: DatabaseSync;
  #get: StatementSync;
  #list: StatementSync;
  #listReverse: StatementSync;

  /** The file must be open in Deno KV, which creates its tables, until this reader is closed. */
  constructor(path: string) {
    this.#database = new DatabaseSync(path, { readOnly: true });
    const select = "select k, v, v_encoding, version from kv where";
    this.#get = this.#database.prepare(`${select} k = ?`);
    this.#list = this.#database.prepare(`${select} k >= ? and k < ? order by k limit ?`);
    this.#listReverse = this.#database.prepare(
      `${select} k >= ? and k < ? order by k desc limit ?`,
    );
  }

  get(key: Key): StoreEntry | null {
    const row = this.#get.get(encodeKey(key));
    return row === undefined ? null : entryOf(key, row as unknown as Row);
  }

  async list(range: KeyRange, { limit, reverse }: ListOptions): Promise<StoreEntry[]> {
    // A scan must not keep the thread from other work until its end.
    await nextTurn();
    const { start, end } = encodeRange(range);
    const rows = (reverse ? this.#listReverse : this.#list).all(start, end, limit);
    return (rows as unknown as Row[]).map((row) => entryOf(decodeKey(row.k), row));
  }

  close(): void {
    this.#database.close();
  }
}

function entryOf(key: Key, { v, v_encoding, version }: Row): StoreEntry {
  return {
    key,
    value: v_encoding === V8_ENCODING ? deserialize(v) : v,
    versionstamp: version.toString(16).padStart(VERSION_DIGITS, "0") + "0000",
  };
}
