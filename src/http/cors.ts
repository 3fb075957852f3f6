import type { HttpResponse } from "./http_response.ts";
import { IDEMPOTENCY_KEY_HEADER, IDEMPOTENCY_REPLAYED_HEADER } from "./idempotency_key.ts";

/** What a script may send beside what every page may. */
const REQUEST_HEADERS = ["authorization", "content-type", IDEMPOTENCY_KEY_HEADER, "if-none-match"];

/** What a script may read beside what every page may. */
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

/** How long a browser may remember the answer to a preflight; Chromium's own limit. */
const PREFLIGHT_SECONDS = 7_200;

/**
 * Leave for scripts of other origins (https://fetch.spec.whatwg.org/#http-cors-protocol), for those
 * that are named and no others; where none is, the service says nothing of it. Credentials of the
 * browser's own are not asked for: the API key is in a header that the script writes.
 */
export class Cors {
  #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  /** The answer with the leave to read it. Errors bear it too, or a script could not see its fault. */
  share(answer: HttpResponse, request: Request): HttpResponse {
    if (this.#origins.size === 0) return answer;
    const headers = { ...answer.headers };
    headers.vary = headers.vary === undefined ? "origin" : `${headers.vary}, origin`;
    const origin = request.headers.get("origin");
    if (origin !== null && this.#origins.has(origin)) {
      headers["access-control-allow-origin"] = origin;
      headers["access-control-expose-headers"] = RESPONSE_HEADERS.join(", ");
    }
    return { ...answer, headers };
  }

  /**
   * The answer to a preflight for a path that knows these methods; `undefined` where the request is
   * none, or comes from an origin that has no leave. It needs no key, for a browser sends none.
   */
  answerToPreflight({ method, headers }: Request, methods: string): HttpResponse | undefined {
    if (method !== "OPTIONS" || !headers.has("access-control-request-method")) return undefined;
    if (!this.#origins.has(headers.get("origin") ?? "")) return undefined;
    return {
      status: 204,
      body: null,
      headers: {
        "access-control-allow-methods": methods,
        "access-control-allow-headers": REQUEST_HEADERS.join(", "),
        "access-control-max-age": String(PREFLIGHT_SECONDS),
      },
    };
  }
}
