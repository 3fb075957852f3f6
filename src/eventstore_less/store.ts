/**
 * The port to a key-value store, its engines, and what a program can do with a store file. Another store implements
 * {@linkcode Store}, rejects with the errors of this entry, and passes the contract of `eventstore-less/testing`.
 *
 * @module
 */

export {
  openFileToRead,
  type OpenOptions,
  openStore,
  type ServiceOpening,
} from "./store/open_store.ts";
export type { DatabaseOptions, WaitsForStandby } from "./store/postgres/postgres_store.ts";
export type { Program } from "./store/postgres/program.ts";
export { createSchema, grantTo } from "./store/postgres/schema.ts";
export {
  ResilientStore,
  type ResilientStoreOptions,
  RETRY_LIMIT_MS,
} from "./store/resilience/resilient_store.ts";
export { scan } from "./store/scan.ts";
export { checkFile } from "./store/sqlite/check_file.ts";
export { expectSoundTables } from "./store/sqlite/expect_sound_tables.ts";
export { type ExpiringRecord, SqliteReader } from "./store/sqlite/sqlite_reader.ts";
export { SqliteStore } from "./store/sqlite/sqlite_store.ts";
export { NO_WRITER, type SqliteWriter } from "./store/sqlite/sqlite_writer.ts";
export { expectFolder, isMissingFile, statOf, watchFile } from "./store/sqlite/store_file.ts";
export {
  type Commit,
  type Guard,
  type Key,
  type KeyPart,
  type KeyRange,
  type ListOptions,
  type Mutation,
  type SetMutation,
  type Snapshot,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
  type StoreLimits,
  VALUE_BYTES_LIMIT,
} from "./store/store.ts";
export {
  NotAppliedError,
  StandbyAwaitedError,
  standbyAwaitedIn,
  StoreAwayError,
  StoreClosedError,
  StoreDamagedError,
  StoreError,
  StoreFailingError,
  StoreFullError,
  StoreReadOnlyError,
  StoreRefusedError,
  UnclearOutcomeError,
  type WriteFault,
} from "./store/store_errors.ts";
