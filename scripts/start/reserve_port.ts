import { ListenError, type ServiceConfig } from "../../src/settings/config.ts";
import { findPort } from "../cli/find_port.ts";

/** Maximum number of ports that are tried if the system may choose one. */
const ATTEMPTS = 100;

/**
 * Reserves the port for the processes of a supervisor until it ends, and returns its number; for 0, that of a free one.
 * The processes share the port, and the system would let those of another supervisor share it, too. So the supervisor holds
 * the UDP port with the same number, on the same address: the system gives it to one program only, treats addresses that
 * overlap as it does for TCP, and takes it back however the supervisor ends. Throws `ListenError` if the port is in use.
 */
export function reservePort(config: ServiceConfig): number {
  const attempts = config.port === 0 ? ATTEMPTS : 1;
  for (let attempt = 1;; attempt++) {
    const reservation = bindDatagrams(config);
    const { port } = reservation.addr as Deno.NetAddr;
    try {
      // A service that is a single process does not reserve its port.
      return findPort({ ...config, port });
    } catch (error) {
      reservation.close();
      if (attempt === attempts) throw error;
    }
  }
}

/** Nothing is ever read from the socket, so it keeps no program running. */
function bindDatagrams(config: ServiceConfig): Deno.DatagramConn {
  try {
    const { hostname, port = 0 } = config;
    return Deno.listenDatagram({ transport: "udp", hostname, port });
  } catch (error) {
    throw new ListenError(config, error);
  }
}
