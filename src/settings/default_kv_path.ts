/** The store if `KV_PATH` is not set. Only its folder is created if it is missing. */
export const DEFAULT_KV_PATH = ".data/pets.sqlite3";
