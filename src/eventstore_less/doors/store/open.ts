/** Opens a store that may be used, and prepares a database for it. */

export { openFileToRead, type OpenOptions, openStore } from "../../store/open_store.ts";
export { OpenStoreError } from "../../store/open_store_error.ts";
export {
  acceptAppends,
  acceptFilledLog,
  acceptLog,
  acceptUnlessRestoring,
} from "../../log/accept_store.ts";
export type { WaitsForStandby } from "../../store/postgres/postgres_store.ts";
export { CREATE_SCHEMA, grantTo } from "../../store/postgres/schema.ts";
