import { HTTP_ERRORS } from "../errors.ts";

/** The path and the query of a request, as in its request line. */
export interface RequestTarget {
  path: string;
  /** Without its question mark. */
  search: string;
}

/** `uri-host [":" port]` (RFC 3986 section 3.2, RFC 9110 section 7.2), without user information. */
const HOST_PATTERN = /^(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/;

/**
 * Returns the host that the client called. Throws `malformed_request` if `Host` is missing or malformed. Deno
 * copies the field's value into the request's URL unchanged, so a value with a slash or a question mark would
 * change the path. `urlWithoutHost` is the start of the URL of a request without a `Host`.
 */
export function expectHost({ headers, url }: Request, urlWithoutHost?: string): string {
  let host = headers.get("host");
  if (host === null) {
    if (urlWithoutHost !== undefined && url.startsWith(urlWithoutHost)) {
      throw HTTP_ERRORS.missingHost();
    }
    // An HTTP/2 request may have no Host; it names its authority in another field.
    host = authorityOf(url);
  }
  if (!HOST_PATTERN.test(host)) throw HTTP_ERRORS.malformedHost();
  return host;
}

/**
 * The scheme and the host that the client called. The host is not taken from the URL, because Deno does not
 * check the authority of a target in absolute form.
 */
export function originOfRequest(url: string, host: string): string {
  return url.startsWith("https:") ? `https://${host}` : `http://${host}`;
}

/**
 * Splits a request's URL. This is cheaper than `new URL` and enough: the URL is absolute, its authority
 * checked.
 */
export function requestTarget(url: string): RequestTarget {
  const authorityStart = url.indexOf("//") + 2;
  const pathStart = url.indexOf("/", authorityStart);
  const queryStart = url.indexOf("?", authorityStart);
  const search = queryStart === -1 ? "" : url.slice(queryStart + 1);
  // A target in absolute form may lack a path, and a CONNECT target always does.
  const hasPath = pathStart !== -1 && (queryStart === -1 || pathStart < queryStart);
  if (!hasPath) return { path: "/", search };
  return { path: url.slice(pathStart, queryStart === -1 ? undefined : queryStart), search };
}

function authorityOf(url: string): string {
  const start = url.indexOf("//") + 2;
  const length = url.slice(start).search(/[/?]|$/);
  return url.slice(start, start + length);
}
