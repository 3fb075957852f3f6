import { ListenError, type ServiceConfig } from "../../src/settings/config.ts";

/** Finds the port to listen on: a free one for 0. Throws `ListenError` if a service may be using the port. */
export function findPort(config: ServiceConfig): number {
  try {
    using listener = Deno.listen({ hostname: config.hostname, port: config.port ?? 0 });
    return listener.addr.port;
  } catch (error) {
    throw new ListenError(config, error);
  }
}
