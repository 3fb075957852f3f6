import { HttpError } from "./errors.ts";

/** The path and the query of a request, as its request line names them. */
export interface RequestTarget {
  path: string;
  /** Without its question mark. */
  search: string;
}

/** `uri-host [":" port]` (RFC 3986 section 3.2, RFC 9110 section 7.2), without user information. */
const HOST_PATTERN = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Refuses a missing or malformed `Host` with `malformed_request`. Deno puts the field's value into the URL of
 * the request as it came, so that a value with a slash or a question mark would change the path.
 * `urlWithoutHost` is how the URL begins if there was no `Host`.
 */
export function expectHost({ headers, url }: Request, urlWithoutHost?: string): void {
  const host = headers.get("host");
  if (host === null) {
    // Without a Host, HTTP/2 names the authority in another way.
    if (urlWithoutHost === undefined || !url.startsWith(urlWithoutHost)) return;
    throw new HttpError("malformed_request", "The Host header is missing");
  }
  if (HOST_PATTERN.test(host)) return;
  throw malformedHost();
}

export function malformedHost(): HttpError {
  return new HttpError(
    "malformed_request",
    "The Host header must be one host name with or without a port",
  );
}

/** Cheaper than `new URL`, and enough: the URL of a request is absolute and its authority is checked. */
export function requestTarget(url: string): RequestTarget {
  const authorityStart = url.indexOf("//") + 2;
  const pathStart = url.indexOf("/", authorityStart);
  const queryStart = url.indexOf("?", authorityStart);
  const search = queryStart === -1 ? "" : url.slice(queryStart + 1);
  // A target in absolute form may have no path, and CONNECT has none.
  const hasPath = pathStart !== -1 && (queryStart === -1 || pathStart < queryStart);
  if (!hasPath) return { path: "/", search };
  return { path: url.slice(pathStart, queryStart === -1 ? undefined : queryStart), search };
}
