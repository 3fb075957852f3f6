/** Deno KV. A program uses it only if the runtime has it. */

import * as deno from "./deno/kv.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/kv.ts";

export type { Kv, KvCheck, KvEntry, KvKey, KvSelector } from "./deno/kv.ts";

export const openKv: typeof deno.openKv = IS_DENO ? deno.openKv : node.openKv;
