import { assertRejects } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { SqliteReader } from "../../../../src/eventstore_less/store/sqlite/sqlite_reader.ts";
import { SqliteStore } from "../../../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { WRITE_PROBE } from "../../../../src/eventstore_less/store/store.ts";
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

for (const [message, Expected] of Object.entries(MESSAGES)) {
  Deno.test(`a commit of a SqliteStore rejects with ${Expected.name} if SQLite says: ${message}`, async () => {
    const commit = () => Promise.reject(new Error(message));
    const reader = new SqliteReader(new DatabaseSync(":memory:"));
    const store = new SqliteStore(reader, { commit, close() {} });
    await assertRejects(() => store.commit(WRITE_PROBE), Expected);
    store.close();
  });
}
