/** Deno KV. A program uses it only if the runtime has it. */

export type Kv = Deno.Kv;
export type KvKey = Deno.KvKey;
export type KvCheck = Deno.AtomicCheck;
export type KvSelector = Deno.KvListSelector;
export type KvEntry = Deno.KvEntryMaybe<unknown>;

/** Opens a Deno KV; without a path, the database that the platform attaches. Rejects if the runtime has none. */
export const openKv = (path?: string): Promise<Kv> => Deno.openKv(path);
