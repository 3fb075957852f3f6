/**
 * What a program needs before it opens a store: settings, words, a log and a clock. It loads neither a store nor the
 * rest of the engine, so a process that only watches others stays small.
 *
 * @module
 */

export { STORE_FORMAT, UPGRADED_FORMAT } from "./log/store_format.ts";
export { defectOf, ENGINE_LOG_EVENTS, reasonOf } from "./runtime/logger.ts";
export { HAS_DENO_KV, systemRuntime } from "./runtime/system_runtime.ts";
export { locateStore } from "./store/locate_store.ts";
export {
  type DatabaseAddress,
  type DatabaseHost,
  hostName,
  parseDatabaseUrl,
  type PostgresSettings,
  type SslMode,
} from "./store/postgres/database_url.ts";
export {
  type FileLocation,
  type NamedStore,
  type OtherLocation,
  type StoreLocation,
  storeName,
} from "./store/store_location.ts";
export { setWords, type Words } from "./words.ts";
