/** Deno KV. Another runtime has none, so its `openKv` is `undefined`. */

export type Kv = Deno.Kv;
export type KvKey = Deno.KvKey;
export type KvCheck = Deno.AtomicCheck;
export type KvSelector = Deno.KvListSelector;
export type KvEntry = Deno.KvEntryMaybe<unknown>;

/** Opens a Deno KV; without a path, the database that the platform attaches. */
export const openKv: ((path?: string) => Promise<Kv>) | undefined = (path) => Deno.openKv(path);
