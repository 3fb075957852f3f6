import { assert, assertEquals, assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { HEAD_KEY } from "../../../../src/eventstore_less/keyspace.ts";
import { KvStore } from "../../../../src/eventstore_less/store/deno_kv/kv_store.ts";
import { SqliteReader } from "../../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { SqliteStore } from "../../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { NO_WRITER } from "../../../../src/eventstore_less/store/sqlite/sqlite_writer.ts";
import { type Store, WRITE_PROBE } from "../../../../src/eventstore_less/store/store.ts";
import {
  NotAppliedError,
  StoreDamagedError,
  StoreFailingError,
  StoreFullError,
  StoreReadOnlyError,
  UnclearOutcomeError,
} from "../../../../src/eventstore_less/store/store_errors.ts";

/** The messages of SQLite, and the error that each means. */
const MESSAGES = {
  "database is locked": NotAppliedError,
  "database or disk is full": StoreFullError,
  "attempt to write a readonly database": StoreReadOnlyError,
  "unable to open database file": StoreReadOnlyError,
  "disk I/O error": StoreFailingError,
  "database disk image is malformed": StoreDamagedError,
  "out of memory": UnclearOutcomeError,
};

/** A store whose commits fail with a message. */
function failingKvStore(message: string): Store {
  const commit = () => Promise.reject(new TypeError(message));
  const kv = { atomic: () => Object.assign(new Deno.AtomicOperation(), { commit }), close() {} };
  return new KvStore(kv as unknown as Deno.Kv, HEAD_KEY);
}

function failingSqliteStore(message: string): Store {
  const commit = () => Promise.reject(new Error(message));
  const reader = new SqliteReader(new DatabaseSync(":memory:"));
  return new SqliteStore(reader, { commit, close() {} });
}

Deno.test("a commit of a KvStore and a SqliteStore rejects with the error that a message of SQLite means", async () => {
  for (const open of [failingKvStore, failingSqliteStore]) {
    for (const [message, Expected] of Object.entries(MESSAGES)) {
      const store = open(message);
      await assertRejects(() => store.commit(WRITE_PROBE), Expected);
      store.close();
    }
  }
  const readOnly = failingKvStore("Can not write to a read-only database.");
  await assertRejects(() => readOnly.commit(WRITE_PROBE), StoreReadOnlyError);
});

/** The messages of SQLite about writes, and the error that each means if a read meets it. */
const OF_READS = {
  ...MESSAGES,
  "database or disk is full": UnclearOutcomeError,
  "attempt to write a readonly database": UnclearOutcomeError,
  "unable to open database file": UnclearOutcomeError,
  "disk I/O error": UnclearOutcomeError,
};

Deno.test("a read of a KvStore and a SqliteStore rejects with an error that speaks of no write", async () => {
  const range = { prefix: [] };
  const options = { limit: 1 };
  for (const [message, Expected] of Object.entries(OF_READS)) {
    const fail = () => Promise.reject(new Error(message));
    const kv = { getMany: fail, list: () => ({ [Symbol.asyncIterator]: () => ({ next: fail }) }) };
    const reader = Object.assign(new SqliteReader(":memory:"), {
      get: fail,
      list: fail,
      snapshot: fail,
    });
    using _ = reader;
    const stores: Store[] = [
      new KvStore(kv as unknown as Deno.Kv, HEAD_KEY),
      new SqliteStore(reader, NO_WRITER),
    ];
    for (const store of stores) {
      for (
        const read of [
          () => store.get(HEAD_KEY),
          () => store.list(range, options),
          () => store.snapshot([HEAD_KEY], [range], options),
        ]
      ) {
        const error = await assertRejects(read, Error);
        assertEquals(error.constructor, Expected, message);
        assert(!/stored/.test(error.message), String(error));
      }
    }
  }
});

Deno.test("a read beyond the end of a file that was cut is damage of the file, not of the disk", async () => {
  const cut = Object.assign(new Error("disk I/O error"), { errcode: 522 });
  using reader = Object.assign(new SqliteReader(":memory:"), { get: () => Promise.reject(cut) });
  const commit = () => Promise.reject(cut);
  const store = new SqliteStore(reader, { commit, close() {} });
  for (const call of [() => store.get(HEAD_KEY), () => store.commit(WRITE_PROBE)]) {
    const error = await assertRejects(call, StoreDamagedError);
    assertEquals(error.reason, "a page is beyond the end of the file, which was cut");
  }
});
