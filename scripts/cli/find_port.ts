import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { ListenError, type ServiceConfig } from "../../src/settings/config.ts";

/** Finds the port to listen on: a free one for 0. Rejects with `ListenError` if a service may be using the port. */
export async function findPort(
  config: Pick<ServiceConfig, "hostname" | "port">,
): Promise<number> {
  const listener = createServer();
  try {
    listener.listen({ host: config.hostname, port: config.port ?? 0 });
    await once(listener, "listening");
    return (listener.address() as AddressInfo).port;
  } catch (error) {
    throw new ListenError(config, error);
  } finally {
    listener.close();
  }
}
