/** The client of KV Connect, which only Deno has. */

import * as deno from "./deno/kv_connect.ts";
import { IS_DENO } from "./is_deno.ts";
import * as node from "./node/kv_connect.ts";

export const connectKv: typeof deno.connectKv = IS_DENO ? deno.connectKv : node.connectKv;
export const fetcherUntil: typeof deno.fetcherUntil = IS_DENO
  ? deno.fetcherUntil
  : node.fetcherUntil;
