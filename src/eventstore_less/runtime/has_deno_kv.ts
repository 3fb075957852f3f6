/** Whether the runtime has Deno KV, which Deno has with `--unstable-kv`, and with it files of its own, a client of servers, and Deno Deploy. */
export const HAS_DENO_KV: boolean =
  (globalThis as { Deno?: { openKv?: unknown } }).Deno?.openKv !== undefined;
