import { databaseName, type PostgresSettings } from "./postgres/database_url.ts";

/**
 * The location of a store: a path of Deno KV, or a PostgreSQL database. A path is a file, `:memory:` or an http(s)
 * address; `undefined` selects the database that the platform attaches.
 */
export type StoreLocation = string | undefined | PostgresSettings;

/** Whether the store is reached over a network. */
export function isRemote(location: StoreLocation): boolean {
  return typeof location !== "string" || /^https?:/i.test(location);
}

/** Whether the store is a file, given by its path. */
export function isFile(location: StoreLocation): location is string {
  return location !== ":memory:" && !isRemote(location);
}

/** Whether the data at a location outlives the process. */
export function isDurable(location: StoreLocation): boolean {
  return location !== ":memory:";
}

/** The name of a store and its setting, without secrets. */
export function locationName(location: StoreLocation): string {
  if (typeof location === "object") return `the ${databaseName(location)} (DATABASE_URL)`;
  return `the store ${location ?? "(the attached database)"} (KV_PATH)`;
}
