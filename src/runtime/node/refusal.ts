import { Buffer } from "node:buffer";
import { STATUS_CODES } from "node:http";
import type { HttpServerOptions } from "../http_server.ts";

/** The status of each error of Node's parser that is not 400, by its code. */
const STATUSES: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** The whole response to what Node's parser refused with this code. The service sees no request, so few have a body. */
export function refusalOf(code: string | undefined, refuse: HttpServerOptions["refuse"]): string {
  if (code !== "HPE_INVALID_URL") return responseText(STATUSES[code ?? ""] ?? 400, {}, "");
  const { status, headers, body } = refuse("malformed_target");
  return responseText(status, headers, body as string);
}

function responseText(status: number, headers: Record<string, string>, body: string): string {
  const fields = {
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n${body}`;
}
