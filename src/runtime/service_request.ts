/** The request and the response of the handler. The server of each runtime makes the request and writes the response. */

/** Maximum length of a body, in bytes. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** The headers of a request. Headers of one name are joined by commas. */
export interface RequestHeaders {
  /** The value of a header in any case; `null` if it is absent. */
  get(name: string): string | null;
}

export interface ServiceRequest {
  readonly method: string;
  /** As in the request line, with its first slash, but after {@linkcode decodeUnreserved}. */
  readonly path: string;
  /** The query, without its question mark. */
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly scheme: "http" | "https";
  /** The host that the client called, as it was sent: it may be malformed. `undefined` if the request names none. */
  readonly host: string | undefined;
  readonly localPort: number;
  readonly clientAddress: string;
  /** Aborts if the client goes away before the response is sent. */
  readonly signal: AbortSignal;
  /** Whether a body follows, which is not read for the methods GET, HEAD and CONNECT. */
  readonly hasBody: boolean;
  /**
   * Resolves to the body, or to `undefined` if it is longer than {@linkcode BODY_LIMIT_BYTES}. Rejects if the client
   * breaks it off. If this was not called or does not end, the server does not read a long rest of the body.
   */
  readBody(): Promise<Uint8Array | undefined>;
}

export interface ServiceResponse {
  status: number;
  /** The names are in lower case. The server may add headers. */
  headers: Record<string, string>;
  /** For HEAD, the server leaves it out. */
  body: string | Uint8Array | ReadableStream<Uint8Array> | null;
}

/** Must not reject. */
export type RequestHandler = (request: ServiceRequest) => Promise<ServiceResponse>;

/** Methods whose bodies are not read. */
export const METHODS_WITHOUT_BODY: ReadonlySet<string> = new Set(["GET", "HEAD", "CONNECT"]);

const DIGITS = /^[0-9]+$/;

/** Whether a request has no body, or declares one within {@linkcode BODY_LIMIT_BYTES}. Any other may be endless. */
export function isBodyBounded(headers: RequestHeaders): boolean {
  if (headers.get("transfer-encoding") !== null) return false;
  const declared = headers.get("content-length");
  return declared === null || DIGITS.test(declared) && Number(declared) <= BODY_LIMIT_BYTES;
}

/**
 * The groups are authority, path and query. This is cheaper than `new URL`. It matches any text, because a client may
 * send any: a text that does not begin as a URL has no authority.
 */
const URL_PATTERN = /^(?:[^:]*:\/\/([^/?]*))?([^?]*)\??([^]*)$/;

/** The parts of a URL, as they are in its text. The query is without its question mark. Never throws. */
export function urlParts(url: string): { authority: string; path: string; search: string } {
  const [, authority = "", path, search] = URL_PATTERN.exec(url)!;
  // A target in absolute form may lack a path, and a CONNECT target always does.
  return { authority, path: path || "/", search };
}

/** The unreserved characters of RFC 3986 (section 2.3), encoded. */
const ENCODED_UNRESERVED = /%(?:2[DE]|3\d|[46][1-9A-F]|[57][\dA]|5F|7E)/gi;

/**
 * The path with its unreserved characters decoded, which mean the same if they are encoded (RFC 3986 section 6.2.2.2).
 * All others stay encoded: `%2F` does not separate. Dot segments are not resolved, so they lead nowhere: no path of the
 * service has any.
 */
export function decodeUnreserved(path: string): string {
  if (!path.includes("%")) return path;
  return path.replaceAll(ENCODED_UNRESERVED, (encoded) => decodeURIComponent(encoded));
}
