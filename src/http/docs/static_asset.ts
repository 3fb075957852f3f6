/** A text that does not change while the process runs. All responses share one copy of each encoding. */

import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { acceptsEncodings } from "@std/http/negotiation";
import { entityTag } from "../../api/conditional_read.ts";
import type { HttpResponse } from "../../api/http_response.ts";
import type { RequestHeaders } from "../../runtime/service_request.ts";

/** A text of fewer bytes is compressed more. */
const SMALL_BYTES = 200_000;

/** The content codings that the service sends, the preferred one first. */
const COMPRESSORS: Record<string, (bytes: Uint8Array) => Promise<Uint8Array>> = {
  br: (bytes) => {
    // Quality 11 saves 7 % of the bytes: for 0.4 s, once, of the window, and for seconds of the reference.
    const quality = bytes.length < SMALL_BYTES ? 11 : 9;
    return promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: quality },
    });
  },
  gzip: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

/** Responds to GET and HEAD. Rejects if the text cannot be loaded. */
export type StaticAsset = (requestHeaders: RequestHeaders) => Promise<HttpResponse>;

/** `load` is called when an encoding is first requested, and again if the call failed. */
export function staticAsset(
  type: string,
  load: () => string | Promise<string>,
  headers: Record<string, string> = {},
): StaticAsset {
  /** The responses by their content coding, which is `undefined` for the text as it is. */
  const responses = new Map<string | undefined, Promise<HttpResponse>>();
  const respond = async (encoding: string | undefined): Promise<HttpResponse> => {
    const plain = new TextEncoder().encode(await load());
    const bytes = encoding === undefined ? plain : await COMPRESSORS[encoding](plain);
    return {
      status: 200,
      headers: {
        "cache-control": "no-cache",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        ...headers,
        etag: entityTag(bytes),
        vary: "accept-encoding",
      },
      contentHeaders: {
        "content-type": type,
        "content-length": String(bytes.length),
        ...(encoding && { "content-encoding": encoding }),
      },
      body: bytes,
    };
  };
  return (requestHeaders) => {
    const encoding = encodingFor(requestHeaders);
    const known = responses.get(encoding);
    if (known !== undefined) return known;
    const response = respond(encoding);
    responses.set(encoding, response);
    // A failure is not cached: the next caller tries again.
    response.catch(() => responses.delete(encoding));
    return response;
  };
}

/** The first encoding that the client accepts, in our order: every browser names gzip before br. */
function encodingFor(headers: RequestHeaders): string | undefined {
  if (!headers.get("accept-encoding")) return undefined;
  return Object.keys(COMPRESSORS).find((name) => acceptsEncodings({ headers }, name) === name);
}
