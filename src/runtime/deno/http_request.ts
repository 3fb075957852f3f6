import { Buffer } from "node:buffer";
import {
  BODY_LIMIT_BYTES,
  decodeUnreserved,
  isBodyBounded,
  METHODS_WITHOUT_BODY,
  type RequestHeaders,
  type ServiceRequest,
  type ServiceResponse,
  urlParts,
} from "../service_request.ts";

/** Delay between a response and the cancellation of its abandoned request body, in milliseconds. */
const CANCEL_BODY_AFTER_MS = 100;

const NOT_ASCII = /[^\0-\x7f]/;

/** The error that ends a response and its connection. */
export const ENDED = new Error("The connection was closed because the request body has no limit");

/** The connection of a request. A read of the address costs a call. */
export interface Peer {
  readonly remoteAddr: { readonly hostname: string };
}

/** The server to which a request was sent. */
export interface Listener {
  readonly localPort: number;
  /** The start of the URL of a request without a `Host`. */
  readonly urlWithoutHost: string;
}

/** A request of `Deno.serve` and the response to it. */
export class HttpRequest implements ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly #authority: string;
  readonly #request: Request;
  readonly #peer: Peer;
  readonly #listener: Listener;
  #reading: "not begun" | "begun" | "done" = "not begun";
  /** Reads a body without a declared length. */
  #reader: ReadableStreamDefaultReader<Uint8Array> | undefined;

  constructor(request: Request, peer: Peer, listener: Listener) {
    const { authority, path, search } = urlParts(request.url);
    this.method = request.method;
    this.path = decodeUnreserved(path);
    this.search = search;
    this.#authority = authority;
    this.#request = request;
    this.#peer = peer;
    this.#listener = listener;
  }

  /** Whether the target has characters that must be encoded. Deno accepts them if they are UTF-8. */
  get isTargetMalformed(): boolean {
    return NOT_ASCII.test(this.path) || NOT_ASCII.test(this.search);
  }

  get headers(): RequestHeaders {
    return this.#request.headers;
  }

  get scheme(): "http" | "https" {
    return this.#request.url.startsWith("https:") ? "https" : "http";
  }

  /** An HTTP/2 request may have no `Host`: it names its authority in another field, from which Deno makes the URL. */
  get host(): string | undefined {
    const host = this.#request.headers.get("host");
    if (host !== null) return host;
    // An HTTP/2 request for exactly this authority looks as one without a host.
    const isMissing = this.#request.url.startsWith(this.#listener.urlWithoutHost);
    return isMissing ? undefined : this.#authority;
  }

  get localPort(): number {
    return this.#listener.localPort;
  }

  get clientAddress(): string {
    return this.#peer.remoteAddr.hostname;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get hasBody(): boolean {
    return this.#request.body !== null;
  }

  async readBody(): Promise<Uint8Array | undefined> {
    const declared = this.headers.get("content-length");
    if (Number(declared) > BODY_LIMIT_BYTES) return undefined;
    this.#reading = "begun";
    // Deno enforces a declared length.
    const isDeclared = declared !== null && this.headers.get("transfer-encoding") === null;
    const body = await (isDeclared ? this.#request.bytes() : this.#readChunks());
    if (body !== undefined) this.#reading = "done";
    return body;
  }

  async #readChunks(): Promise<Uint8Array | undefined> {
    this.#reader = this.#request.body?.getReader();
    if (this.#reader === undefined) return new Uint8Array();
    const chunks: Uint8Array[] = [];
    let length = 0;
    while (length <= BODY_LIMIT_BYTES) {
      const { done, value } = await this.#reader.read();
      if (done) return Buffer.concat(chunks);
      length += value.length;
      chunks.push(value);
    }
    return undefined;
  }

  /**
   * Makes a response after which Deno does not read the rest of the body, which may be endless. A body of a declared
   * length within the limit is left to Deno, which then keeps the connection open. Trials with Deno 2.9.6 found two ways
   * for any other:
   * 1. If nothing was read: access the getter `request.body`, and respond with a stream. Deno closes the connection.
   * 2. If a part was read: keep the body locked by its reader, so that Deno cannot read on. Cancel through that reader
   *    after the response is sent; otherwise the file descriptor leaks. The same if the client waits for `100 Continue`,
   *    which Deno sends before any response: it would then wait for the body, without a limit.
   *
   * We found no way for HEAD, nor for a response that succeeds, so the proxy in front must limit the bodies of these.
   * Nor did we find one for a GET that waits for `100 Continue`, whose body Deno hides.
   */
  answer(response: ServiceResponse): Response | Promise<Response> {
    if (this.#isBodyUnwanted) {
      this.#reader = this.#request.body?.getReader();
      return this.#answerAmid(response);
    }
    const isRefused = response.status >= 400;
    if (!isRefused) return toResponse(response);
    if (this.#reading === "begun") return this.#answerAmid(response);
    const isNothingLeft = this.#reading === "done" || isBodyBounded(this.headers);
    if (isNothingLeft) return toResponse(response);
    return this.#answerBefore(response);
  }

  /** Whether the client sends its body only after `100 Continue`, and nothing has read the body. */
  get #isBodyUnwanted(): boolean {
    if (this.#reading !== "not begun" || METHODS_WITHOUT_BODY.has(this.method)) return false;
    return this.headers.get("expect")?.toLowerCase() === "100-continue";
  }

  /** Responds although a part of the body was read, or will not be. */
  #answerAmid(response: ServiceResponse): Response {
    const reader = this.#reader;
    if (reader !== undefined) {
      setTimeout(() => void reader.cancel().catch(() => {}), CANCEL_BODY_AFTER_MS);
    }
    return toResponse(closing(response));
  }

  /** Responds although nothing of the body was read. */
  async #answerBefore(response: ServiceResponse): Promise<Response> {
    const isHidden = METHODS_WITHOUT_BODY.has(this.method);
    if (isHidden && this.method !== "HEAD") {
      // Only an error of the stream stops Deno here. It ends the response before its first byte.
      const body = new ReadableStream({ start: (controller) => controller.error(ENDED) });
      return new Response(body, { status: response.status });
    }
    // This touches the body, as the first way requires.
    if (this.#request.body === null) return toResponse(response);
    const bytes = await new Response(response.body as BodyInit).bytes();
    const headers = { ...response.headers, "content-length": String(bytes.length) };
    const body = new Blob([bytes]).stream();
    return toResponse(closing({ ...response, headers, body }));
  }
}

function closing(response: ServiceResponse): ServiceResponse {
  return { ...response, headers: { ...response.headers, connection: "close" } };
}

export function toResponse(response: ServiceResponse): Response {
  return new Response(response.body as BodyInit | null, response);
}
