/** Connections whose real address is checked before a byte is sent. */

import type { Runtime } from "eventstore-less";
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext, type TLSSocket } from "node:tls";
import { AttemptFailedError } from "./attempt.ts";

/** Number of addresses of a name that are tried. */
const ADDRESSES_LIMIT = 4;

/** How long one address is tried while there are others, in milliseconds. */
const ADDRESS_LIMIT_MS = 3_000;

/** Matches the codes of errors about a certificate that is not valid, on each runtime. */
const OF_CERTIFICATE = /CERT|LEAF_SIGNATURE|INVALID_CA|PURPOSE|HOSTNAME/;
const OF_CONNECTION = /^(?:ECONN|EPIPE|ETIMEDOUT)/;

/**
 * Connects to the first address that accepts. The caller has checked them; `isCallable` decides once more, on the address to
 * which the socket is connected. If the signal aborts, the socket is destroyed. Rejects with an `AttemptFailedError`.
 */
export async function connectToOne(
  addresses: readonly string[],
  port: number,
  { runtime, isCallable, signal }: {
    runtime: Runtime;
    isCallable: (address: string) => boolean;
    signal: AbortSignal;
  },
): Promise<Socket> {
  const tried = addresses.slice(0, ADDRESSES_LIMIT);
  for (const [index, host] of tried.entries()) {
    const socket = connectTcp({ host, port, noDelay: true });
    destroyOnAbort(socket, signal);
    const isLast = index === tried.length - 1;
    const cancelTimer = isLast
      ? () => {}
      : runtime.setTimer(ADDRESS_LIMIT_MS, () => socket.destroy());
    const isConnected = await connects(socket);
    cancelTimer();
    if (!isConnected) continue;
    if (isCallable(socket.remoteAddress ?? "")) return socket;
    socket.destroy();
    throw new AttemptFailedError("address_refused");
  }
  throw new AttemptFailedError("connection_failed");
}

/** Whether a socket connects before it closes. */
function connects(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("close", () => resolve(false));
    socket.on("error", () => {});
  });
}

/**
 * Speaks TLS on a socket to a host, whose certificate must be valid for its name or its address. The context has the
 * authorities that are trusted. Rejects with an `AttemptFailedError`.
 */
export function secure(
  socket: Socket,
  hostname: string,
  { secureContext, signal }: { secureContext: SecureContext; signal: AbortSignal },
): Promise<TLSSocket> {
  const host = hostname.replace(/^\[|[\].]$/g, "");
  const secured = connectTls({
    socket,
    host,
    servername: isIP(host) === 0 ? host : undefined,
    ALPNProtocols: ["http/1.1"],
    secureContext,
    // The environment cannot turn it off.
    rejectUnauthorized: true,
  });
  destroyOnAbort(secured, signal);
  return new Promise((resolve, reject) => {
    secured.once("secureConnect", () => resolve(secured));
    secured.on("error", (error) => reject(tlsFailure(error)));
    secured.once("close", () => reject(new AttemptFailedError("connection_failed")));
  });
}

function tlsFailure({ code = "" }: Error & { code?: string }): AttemptFailedError {
  if (OF_CONNECTION.test(code)) return new AttemptFailedError("connection_failed");
  return new AttemptFailedError(OF_CERTIFICATE.test(code) ? "certificate_refused" : "tls_failed");
}

function destroyOnAbort(socket: Socket, signal: AbortSignal): void {
  const destroy = () => void socket.destroy();
  if (signal.aborted) destroy();
  signal.addEventListener("abort", destroy, { once: true });
}
