/** The client of KV Connect. Another runtime has none, so its `connectKv` is `undefined`. */

import type { Kv } from "./kv.ts";

/** Connects to a server. All its requests, and each of its own, are made by `fetcher`. */
export const connectKv: ((address: string, fetcher: typeof fetch) => Promise<Kv>) | undefined =
  async (
    address,
    fetcher,
  ) => {
    const { openKv } = await import("@deno/kv");
    // Without an implementation, the package opens Deno's own client.
    const options = { implementation: "remote", fetcher, maxRetries: 0 } as const;
    return await openKv(address, options) as unknown as Kv;
  };

/** Returns a `fetch()` with connections of its own, which end with the signal. */
export function fetcherUntil(signal: AbortSignal): typeof fetch {
  const client = Deno.createHttpClient({});
  signal.addEventListener("abort", () => client.close());
  return (url, init) => fetch(url, { ...init, client, signal });
}
