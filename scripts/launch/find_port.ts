import { ListenError } from "../../src/life_cycle/listen_error.ts";
import type { ServiceConfig } from "../../src/settings/config.ts";

/** Finds the port to listen on: a free one for 0. Throws `ListenError` if a service may be using the port. */
export function findPort(address: Pick<ServiceConfig, "hostname" | "port">): number {
  try {
    using listener = Deno.listen({ hostname: address.hostname, port: address.port ?? 0 });
    return listener.addr.port;
  } catch (error) {
    throw new ListenError(address, error);
  }
}
