/** The location of a store. It opens no store, so a supervisor can load it. */

export { type FileLocation, type StoreLocation, storeName } from "../../store/store_location.ts";
export { hostName, parseDatabaseUrl } from "../../store/postgres/database_url.ts";
