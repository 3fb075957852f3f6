/** The location of a store. It opens no store, so a supervisor can load it. */

export {
  type FileLocation,
  type NamedStore,
  type StoreLocation,
  storeName,
} from "../../store/store_location.ts";
export { locateStore } from "../../store/locate_store.ts";
export { hostName, parseDatabaseUrl } from "../../store/postgres/database_url.ts";
