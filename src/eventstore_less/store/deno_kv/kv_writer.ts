import { type Kv, type KvCheck, openKv } from "../../runtime/kv.ts";
import type { SqliteWriter } from "../sqlite/sqlite_writer.ts";
import type { Commit } from "../store.ts";
import { withKvCommitErrors } from "./kv_errors.ts";

/** Commits to a Deno KV. On Deno, it writes files, too: that costs less processor time than a worker (measured). */
export class KvWriter implements SqliteWriter {
  #kv: Kv;
  #path: string | undefined;

  /** `path` is that of the file, if it is one. */
  constructor(kv: Kv, path?: string) {
    this.#kv = kv;
    this.#path = path;
  }

  /** Opens or creates a file, whose tables must be sound. Rejects with an error of SQLite. */
  static async open(path: string): Promise<KvWriter> {
    return new KvWriter(await openKv(path), path);
  }

  commit(commit: Commit): Promise<string | null> {
    return withKvCommitErrors(() => this.#commit(commit), this.#path);
  }

  async #commit({ guard, mutations }: Commit): Promise<string | null> {
    const atomic = this.#kv.atomic().check(guard as KvCheck);
    for (const mutation of mutations) {
      if (mutation.type === "delete") atomic.delete(mutation.key);
      else atomic.set(mutation.key, mutation.value);
    }
    const result = await atomic.commit();
    return result.ok ? result.versionstamp : null;
  }

  close(): void {
    this.#kv.close();
  }
}
