import { HttpRequest, toResponse } from "../../src/runtime/deno/http_request.ts";
import type { RequestHandler, ServiceRequest } from "../../src/runtime/service_request.ts";

/** A handler as clients see it. */
export type FetchHandler = (request: Request, clientAddress?: string) => Promise<Response>;

/** The start of the URL of a request without a host. */
export const URL_WITHOUT_HOST = "http://no.host/";

/** Calls a handler without a server. */
export function fetchFrom(handler: RequestHandler): FetchHandler {
  return async (request, clientAddress) =>
    toResponse(await handler(serviceRequestOf(request, clientAddress)));
}

export function serviceRequestOf(request: Request, clientAddress = "192.0.2.1"): ServiceRequest {
  const peer = { remoteAddr: { hostname: clientAddress } };
  return new HttpRequest(request, peer, { localPort: 8000, urlWithoutHost: URL_WITHOUT_HOST });
}

/** Serves what a test does to requests and responses of a handler, on a free port until disposed of. */
export function serveFetch(handler: FetchHandler) {
  const stop = new AbortController();
  const listen = { hostname: "127.0.0.1", port: 0, onListen: () => {}, signal: stop.signal };
  const server = Deno.serve(listen, (request) => handler(request));
  const close = async () => {
    // A shutdown would wait for a response that a failed test still holds back.
    stop.abort();
    await server.finished;
  };
  return { port: server.addr.port, [Symbol.asyncDispose]: close };
}
