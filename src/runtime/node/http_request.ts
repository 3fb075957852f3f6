import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  BODY_LIMIT_BYTES,
  decodeUnreserved,
  isBodyBounded,
  METHODS_WITHOUT_BODY,
  type RequestHeaders,
  type ServiceRequest,
  urlParts,
} from "../service_request.ts";

/** The ends of a connection, and whether the client's side of it is over. */
export interface Ends {
  readonly clientAddress: string;
  readonly localPort: number;
  /** Whether nothing more is read: the client has ended its side, or has sent what is not HTTP. It may still read. */
  readonly isOver: boolean;
  /** Called when `isOver` becomes true. The request in work sets it. */
  onOver: () => void;
}

/** A message of `node:http`. A `Request` of Node costs more than a read of the store. */
export class HttpRequest implements ServiceRequest {
  readonly method: string;
  readonly path: string;
  readonly search: string;
  readonly headers: RequestHeaders;
  readonly scheme = "http";
  readonly #authority: string | undefined;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #ends: Ends;
  /** Without `100 Continue`, a client that waits for it may still send its body, or never send it. */
  #waitsToContinue: boolean;
  #isBodyBegun = false;
  /** Rejects the body that is being read, unless it has arrived whole. */
  #breakOff = () => {};
  #gone: AbortController | undefined;

  /** `waitsToContinue` is whether the client sends its body only after `100 Continue`. */
  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    ends: Ends,
    waitsToContinue: boolean,
  ) {
    const { authority, path, search } = targetOf(message);
    this.method = message.method!;
    this.path = decodeUnreserved(path);
    this.search = search;
    this.headers = new MessageHeaders(message);
    this.#authority = authority;
    this.#message = message;
    this.#response = response;
    this.#ends = ends;
    ends.onOver = () => {
      this.#breakOff();
      this.#gone?.abort();
    };
    this.#waitsToContinue = waitsToContinue;
  }

  get host(): string | undefined {
    return this.headers.get("host") ?? this.#authority;
  }

  get localPort(): number {
    return this.#ends.localPort;
  }

  get clientAddress(): string {
    return this.#ends.clientAddress;
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      const response = this.#response;
      // If the side of the client is over, Node does not say when the client is gone. So nothing waits for it, as on Deno.
      if (response.destroyed || this.#ends.isOver) gone.abort();
      response.once("close", () => {
        if (!response.writableFinished) gone.abort();
      });
      this.#gone = gone;
    }
    return this.#gone.signal;
  }

  get hasBody(): boolean {
    if (METHODS_WITHOUT_BODY.has(this.method)) return false;
    const length = this.headers.get("content-length");
    const hasLength = length !== null && length !== "0";
    return hasLength || this.headers.get("transfer-encoding") !== null;
  }

  async readBody(): Promise<Uint8Array | undefined> {
    if (!this.hasBody) return new Uint8Array();
    if (Number(this.headers.get("content-length")) > BODY_LIMIT_BYTES) return undefined;
    this.#isBodyBegun = true;
    if (this.#waitsToContinue) this.#response.writeContinue();
    this.#waitsToContinue = false;
    const message = this.#message;
    const chunks: Uint8Array[] = [];
    let length = 0;
    const isWithin = await new Promise<boolean>((resolve, reject) => {
      message.on("data", (chunk) => {
        length += chunk.length;
        chunks.push(chunk);
        if (length > BODY_LIMIT_BYTES) {
          message.pause();
          resolve(false);
        }
      });
      message.on("end", () => resolve(true));
      message.on("close", () => {
        // Each body ends with this event, and an error takes 10 µs.
        if (!message.readableEnded) reject(new Error("The connection was closed"));
      });
      message.on("error", reject);
      this.#breakOff = () => {
        if (!message.complete) reject(new Error("The body was broken off"));
      };
      if (this.#ends.isOver) this.#breakOff();
    });
    if (!isWithin) return undefined;
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  }

  /** Whether the client asks for another protocol. Node neither reads nor answers further requests in the same packet. */
  get isUpgrade(): boolean {
    return this.headers.get("upgrade") !== null;
  }

  /** Whether the rest of the body must not be read: it is late, may be endless, or may never come. */
  get mustLeaveBody(): boolean {
    if (this.#message.complete) return false;
    const isUnfinished = this.#isBodyBegun || this.#waitsToContinue || this.#ends.isOver;
    return isUnfinished || !isBodyBounded(this.headers);
  }
}

/** The target of a message. Only one in absolute form has an authority. */
function targetOf({ method, url = "/" }: IncomingMessage) {
  if (url.startsWith("/")) {
    const queryStart = url.indexOf("?");
    if (queryStart === -1) return { authority: undefined, path: url, search: "" };
    return {
      authority: undefined,
      path: url.slice(0, queryStart),
      search: url.slice(queryStart + 1),
    };
  }
  if (method === "CONNECT") return { authority: url, path: "/", search: "" };
  if (url.includes("://")) return urlParts(url);
  return { authority: undefined, path: `/${url}`, search: "" };
}

/** The headers of a message. Node would make an object of all headers. */
class MessageHeaders implements RequestHeaders {
  /** Names and values in turn, as they were sent. */
  readonly #fields: string[];

  constructor({ rawHeaders }: IncomingMessage) {
    this.#fields = rawHeaders;
  }

  get(name: string): string | null {
    const fields = this.#fields;
    const lowerCase = name.toLowerCase();
    let found: string | null = null;
    for (let index = 0; index < fields.length; index += 2) {
      const isNamed = fields[index].length === name.length &&
        fields[index].toLowerCase() === lowerCase;
      if (isNamed) found = found === null ? fields[index + 1] : `${found}, ${fields[index + 1]}`;
    }
    return found;
  }
}
