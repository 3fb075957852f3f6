/** Deno KV. A program uses it only if the runtime has it. */

export type Kv = Deno.Kv;
export type KvKey = Deno.KvKey;
export type KvCheck = Deno.AtomicCheck;
export type KvSelector = Deno.KvListSelector;
export type KvEntry = Deno.KvEntryMaybe<unknown>;

/** Whether the runtime has Deno KV, which Deno has with `--unstable-kv`, and with it files of its own, a client of servers, and Deno Deploy. */
export const HAS_DENO_KV: boolean = globalThis.Deno?.openKv !== undefined;

/** Opens a Deno KV; without a path, the database that the platform attaches. Rejects if the runtime has none. */
export const openKv = (path?: string): Promise<Kv> => Deno.openKv(path);
