/** Node has no Deno KV. */

export type { Kv, KvCheck, KvEntry, KvKey, KvSelector } from "../deno/kv.ts";
import type { openKv as denoOpenKv } from "../deno/kv.ts";

export const openKv: typeof denoOpenKv = () => Promise.reject(new Error("Node has no Deno KV"));
