import { Buffer } from "node:buffer";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { acceptsEncodings } from "@std/http/negotiation";
import { gzipTagOf } from "./conditional_read.ts";
import type { HttpResponse } from "./http_response.ts";

/** Shorter texts are not compressed. */
const MIN_BYTES = 1_024;

/** The response, in gzip with its own entity tag if it is long and the client accepts that. `cache` keeps the gzip. */
export function compressed(
  response: HttpResponse & { body: string | Uint8Array },
  requestHeaders: Headers,
  cache: { gzip?: Promise<Uint8Array> } = {},
): HttpResponse | Promise<HttpResponse> {
  const { body, headers, contentHeaders = { "content-type": "application/json" } } = response;
  const isLong = body.length >= MIN_BYTES || Buffer.byteLength(body) >= MIN_BYTES;
  if (!isLong || !acceptsGzip(requestHeaders)) return response;
  // Not a Buffer, which costs a response a microsecond more.
  const compressing = cache.gzip ??= promisify(gzip)(body).then((bytes) => new Uint8Array(bytes));
  return compressing.then((bytes) => ({
    ...response,
    body: bytes,
    headers: headers.etag === undefined ? headers : { ...headers, etag: gzipTagOf(headers.etag) },
    contentHeaders: { ...contentHeaders, "content-encoding": "gzip" },
  }));
}

function acceptsGzip(headers: Headers): boolean {
  const field = headers.get("accept-encoding");
  return field !== null && /gzip|\*/i.test(field) &&
    acceptsEncodings({ headers }, "gzip", "identity") === "gzip";
}
