import type { ServiceRequest } from "../runtime/service_request.ts";

/** What a part of a request asks for, as a request of its own. */
interface RequestedPart {
  method: string;
  path: string;
  /** The names are in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string | undefined;
}

const encoder = new TextEncoder();

/** The request that a part of another one stands for. It came by the same connection. */
export function requestOfPart(
  whole: ServiceRequest,
  { method, path, headers, body = "" }: RequestedPart,
): ServiceRequest {
  const { scheme, host, localPort, clientAddress, signal } = whole;
  return {
    method,
    path,
    search: "",
    headers: { get: (name) => headers[name.toLowerCase()] ?? null },
    scheme,
    host,
    localPort,
    clientAddress,
    signal,
    hasBody: body !== "",
    readBody: () => Promise.resolve(encoder.encode(body)),
  };
}
