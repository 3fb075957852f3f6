/** The port to a store, its engines, and the tools for a store file. */

export { checkedContent, CHECKSUM_BYTES, withChecksum } from "./store/checksum.ts";
export { groupIntoCommits, sealCommit } from "./store/commit_size.ts";
export { commitUntilKnown } from "./store/commit_until_known.ts";
export { formatKey } from "./store/key_encoding.ts";
export { openFileToRead, type OpenOptions, openStore } from "./store/open_store.ts";
export { OpenStoreError } from "./store/open_store_error.ts";
export { hostName, parseDatabaseUrl } from "./store/postgres/database_url.ts";
export type { WaitsForStandby } from "./store/postgres/postgres_store.ts";
export { createSchema, grantTo } from "./store/postgres/schema.ts";
export { ResilientStore, RETRY_LIMIT_MS } from "./store/resilience/resilient_store.ts";
export { scan, scanOutside } from "./store/scan.ts";
export { HAS_DENO_KV } from "./runtime/has_deno_kv.ts";
export { checkFile } from "./store/sqlite/check_file.ts";
export { expectSoundTables } from "./store/sqlite/expect_sound_tables.ts";
export { type ExpiringRecord, SqliteReader } from "./store/sqlite/sqlite_reader.ts";
export { SqliteStore } from "./store/sqlite/sqlite_store.ts";
export { NO_WRITER } from "./store/sqlite/sqlite_writer.ts";
export { expectFolder, isMissingFile, statOf, watchFile } from "./store/sqlite/store_file.ts";
export {
  type Commit,
  type Key,
  type KeyRange,
  type Mutation,
  type Store,
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
} from "./store/store_errors.ts";
export { locateStore } from "./store/locate_store.ts";
export {
  type FileLocation,
  type NamedStore,
  type StoreLocation,
  storeName,
} from "./store/store_location.ts";
