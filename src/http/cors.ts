import { STATUS_CODE } from "@std/http/status";
import type { HttpResponse } from "./http_response.ts";
import { IDEMPOTENCY_KEY_HEADER, IDEMPOTENCY_REPLAYED_HEADER } from "./requests/idempotency_key.ts";

/** Request headers that a script may send, besides the CORS-safelisted ones. */
const REQUEST_HEADERS = ["authorization", "content-type", IDEMPOTENCY_KEY_HEADER, "if-none-match"];

/** Response headers that a script may read, besides the CORS-safelisted ones. */
const RESPONSE_HEADERS = [
  "deprecation",
  "etag",
  IDEMPOTENCY_REPLAYED_HEADER,
  "link",
  "location",
  "ratelimit",
  "ratelimit-policy",
  "retry-after",
  "sunset",
  "www-authenticate",
  "x-request-id",
];

/** How long a browser may cache a preflight response, in seconds. This is Chromium's own limit. */
const PREFLIGHT_SECONDS = 7_200;

/**
 * Allows scripts of the given origins to use the service (https://fetch.spec.whatwg.org/#http-cors-protocol).
 * If no origin is given, responses have no CORS headers. CORS credentials are not allowed, because the script
 * itself sends the API key in a header.
 */
export class Cors {
  #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /**
   * Returns the response with its CORS headers. Errors have them too, so that a script can read the error.
   */
  share(response: HttpResponse, request: Request): HttpResponse {
    if (this.#origins.size === 0) return response;
    const headers = { ...response.headers };
    headers.vary = headers.vary === undefined ? "origin" : `${headers.vary}, origin`;
    const origin = request.headers.get("origin");
    if (origin !== null && this.#origins.has(origin)) {
      headers["access-control-allow-origin"] = origin;
      headers["access-control-expose-headers"] = RESPONSE_HEADERS.join(", ");
    }
    return { ...response, headers };
  }

  /**
   * Responds to a preflight for a path that allows these methods. Returns `undefined` if the request is not a
   * preflight. A preflight needs no key, because browsers send it without one. If its origin is not allowed,
   * the response has no CORS headers, and browsers then name the origin as the reason.
   */
  preflightResponse({ method, headers }: Request, allow: string): HttpResponse | undefined {
    const origin = headers.get("origin");
    const isPreflight = method === "OPTIONS" && headers.has("access-control-request-method");
    if (!isPreflight || origin === null) return undefined;
    if (!this.#origins.has(origin)) return optionsResponse(allow);
    return {
      ...optionsResponse(allow),
      headers: {
        allow,
        "access-control-allow-methods": allow,
        "access-control-allow-headers": REQUEST_HEADERS.join(", "),
        "access-control-max-age": String(PREFLIGHT_SECONDS),
      },
    };
  }
}

/** The response to OPTIONS. */
export function optionsResponse(allow: string): HttpResponse {
  return { status: STATUS_CODE.NoContent, body: null, headers: { allow } };
}
