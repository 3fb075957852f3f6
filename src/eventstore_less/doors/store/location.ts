/** The location of a store. It loads nothing of a store, so a supervisor has it too. */

export { type FileLocation, type StoreLocation, storeName } from "../../store/store_location.ts";
export { hostName, parseDatabaseUrl } from "../../store/postgres/database_url.ts";
