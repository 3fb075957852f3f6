/** There is no client of KV Connect on Node. */

import type { connectKv as denoConnectKv } from "../deno/kv_connect.ts";

export const connectKv: typeof denoConnectKv = undefined;

/** Returns a `fetch()` that ends with the signal. */
export function fetcherUntil(signal: AbortSignal): typeof fetch {
  return (url, init) => fetch(url, { ...init, signal });
}
