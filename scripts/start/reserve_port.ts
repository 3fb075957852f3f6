import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { ListenError, type ServiceConfig } from "../../src/settings/config.ts";
import { findPort } from "../cli/find_port.ts";

/** Maximum number of ports that are tried if the system may choose one. */
const ATTEMPTS = 100;

/**
 * Reserves the port for the processes of a supervisor until it ends, and returns its number; for 0, that of a free one.
 * The processes share the port, and the system would let those of another supervisor share it, too. So the supervisor holds
 * the UDP port with the same number, on the same address: the system gives it to one program only, treats addresses that
 * overlap as it does for TCP, and takes it back however the supervisor ends. Rejects with `ListenError` if the port is in
 * use.
 */
export async function reservePort(config: ServiceConfig): Promise<number> {
  const attempts = config.port === 0 ? ATTEMPTS : 1;
  for (let attempt = 1;; attempt++) {
    const reservation = await bindDatagrams(config);
    const { port } = reservation.address();
    try {
      // A service that is a single process does not reserve its port.
      return await findPort({ ...config, port });
    } catch (error) {
      reservation.close();
      if (attempt === attempts) throw error;
    }
  }
}

/** Nothing is ever read from the socket, so it keeps no program running. */
async function bindDatagrams(config: ServiceConfig): Promise<Socket> {
  const { hostname, port = 0 } = config;
  const socket = createSocket(hostname?.includes(":") ? "udp6" : "udp4");
  try {
    socket.bind({ address: hostname, port });
    await once(socket, "listening");
    socket.unref();
    return socket;
  } catch (error) {
    throw new ListenError(config, error);
  }
}
