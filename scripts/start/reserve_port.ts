import { createSocket } from "node:dgram";
import { once } from "node:events";
import { ListenError, type ServiceConfig } from "../../src/settings/config.ts";
import { findPort } from "../cli/find_port.ts";

/**
 * Reserves the port for the processes of a supervisor until it ends, and returns its number; for 0, that of a free one.
 * Linux would let the processes of another supervisor share the port, and spread the clients over two stores. So the
 * supervisor holds the UDP port of the same number, which the system gives to one program only, and takes back when
 * that program ends. Rejects with `ListenError` if the port is in use.
 */
export async function reservePort(
  config: Pick<ServiceConfig, "hostname" | "port">,
): Promise<number> {
  const port = await findPort(config);
  const { hostname } = config;
  const socket = createSocket(hostname?.includes(":") ? "udp6" : "udp4");
  socket.bind({ address: hostname, port });
  try {
    await once(socket, "listening");
  } catch (error) {
    throw new ListenError(config, error);
  }
  // Without a listener, an error of the socket would end the supervisor. Anybody can send it datagrams.
  socket.on("error", () => {});
  // Nothing reads its datagrams, so it keeps no program running.
  socket.unref();
  return port;
}
