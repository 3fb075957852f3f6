import type { HttpResponse } from "../api/http_response.ts";
import type { ServiceRequest } from "../runtime/service_request.ts";
import {
  IDEMPOTENCY_KEY_HEADER,
  IDEMPOTENCY_REPLAYED_HEADER,
} from "../api/requests/idempotency_key.ts";

/** The headers that a script may send and read, besides the CORS-safelisted ones. */
const REQUEST_HEADERS =
  `authorization, content-type, ${IDEMPOTENCY_KEY_HEADER}, if-match, if-none-match, last-event-id`;
const RESPONSE_HEADERS =
  `accept-patch, deprecation, etag, ${IDEMPOTENCY_REPLAYED_HEADER}, link, location, ` +
  "ratelimit, ratelimit-policy, retry-after, sunset, www-authenticate, x-feed-position, x-request-id, x-total-count";

/** How long a browser may cache a preflight response, in seconds. This is Chromium's own limit. */
const PREFLIGHT_SECONDS = 7_200;

/**
 * Adds the headers for scripts of these origins (https://fetch.spec.whatwg.org/#http-cors-protocol), also to errors, so
 * that a script can read them. A response to another origin has none, so that browsers name the origin as the reason.
 * CORS credentials are not allowed, because the script itself sends the API key in a header.
 */
export function shareWith(
  origins: readonly string[],
  response: HttpResponse,
  request: ServiceRequest,
): HttpResponse {
  const headers = { ...response.headers };
  headers.vary = headers.vary === undefined ? "origin" : `${headers.vary}, origin`;
  const origin = request.headers.get("origin");
  if (origin !== null && origins.includes(origin)) {
    headers["access-control-allow-origin"] = origin;
    headers["access-control-expose-headers"] = RESPONSE_HEADERS;
    if (isPreflight(request) && headers.allow !== undefined) {
      headers["access-control-allow-methods"] = headers.allow;
      headers["access-control-allow-headers"] = REQUEST_HEADERS;
      headers["access-control-max-age"] = String(PREFLIGHT_SECONDS);
    }
  }
  return { ...response, headers };
}

/** Whether a browser asks if a script may send a request. The question has no key. */
export function isPreflight({ method, headers }: ServiceRequest): boolean {
  return method === "OPTIONS" && headers.get("origin") !== null &&
    headers.get("access-control-request-method") !== null;
}
