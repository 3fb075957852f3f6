import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";

/** Methods whose bodies the handler does not see, as in Deno. */
const BODY_HIDDEN: ReadonlySet<string> = new Set(["GET", "HEAD", "CONNECT"]);

/** A message of `node:http` as the part of a `Request` that the service uses. */
export class PlainRequest {
  readonly method: string;
  readonly headers: MessageHeaders;
  bodyUsed = false;
  readonly #message: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #port: number | undefined;
  readonly #onBodyRead: () => void;
  #url: string | undefined;
  #gone: AbortController | undefined;
  /** Whether the stream of the body has ended, or nobody reads it any more. */
  #hasBodyEnded = false;
  #body: ReadableStream<Uint8Array> | null | undefined;

  /** `onBodyRead` is called before the body is first read. */
  constructor(
    message: IncomingMessage,
    response: ServerResponse,
    port: number | undefined,
    onBodyRead: () => void,
  ) {
    this.method = message.method!;
    this.headers = new MessageHeaders(message);
    this.#message = message;
    this.#response = response;
    this.#port = port;
    this.#onBodyRead = onBodyRead;
  }

  /** Aborts if the client goes away before the response is sent. */
  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      const gone = new AbortController();
      const response = this.#response;
      if (response.destroyed) gone.abort();
      response.once("close", () => {
        if (!response.writableFinished) gone.abort();
      });
      this.#gone = gone;
    }
    return this.#gone.signal;
  }

  /** As in Deno: the `Host` and the target as they were sent, and the address of the server without a `Host`. */
  get url(): string {
    this.#url ??= this.#makeUrl();
    return this.#url;
  }

  #makeUrl(): string {
    const { url: target = "/" } = this.#message;
    if (target.includes("://") && !target.startsWith("/")) return target;
    const host = this.headers.get("host") ?? `localhost:${this.#port}`;
    if (this.method === "CONNECT") return `http://${target}`;
    return `http://${host}${target.startsWith("/") ? target : `/${target}`}`;
  }

  get body(): ReadableStream<Uint8Array> | null {
    if (this.#body === undefined) this.#body = this.#hasBody() ? this.#makeStream() : null;
    return this.#body;
  }

  /** The body, whose declared length Node enforces. */
  async bytes(): Promise<Uint8Array> {
    if (!this.#hasBody()) return new Uint8Array();
    this.bodyUsed = true;
    this.#onBodyRead();
    const chunks: Uint8Array[] = [];
    const message = this.#message;
    await new Promise<void>((resolve, reject) => {
      message.on("data", (chunk) => chunks.push(chunk));
      message.on("end", resolve);
      message.on("close", () => reject(new Error("The connection was closed")));
      message.on("error", reject);
      // The body may be paused, and a listener does not resume it.
      message.resume();
    });
    return chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
  }

  #hasBody(): boolean {
    if (BODY_HIDDEN.has(this.method)) return false;
    const length = this.headers.get("content-length");
    const hasLength = length !== null && length !== "0";
    return hasLength || this.headers.get("transfer-encoding") !== null;
  }

  /** A stream of the body, which is read only once the stream is. */
  #makeStream(): ReadableStream<Uint8Array> {
    const message = this.#message;
    return new ReadableStream({
      pull: (controller) => {
        if (!this.bodyUsed) this.#readInto(controller);
        message.resume();
      },
      cancel: () => {
        this.#hasBodyEnded = true;
        message.pause();
      },
    }, { highWaterMark: 0 });
  }

  #readInto(controller: ReadableStreamDefaultController<Uint8Array>): void {
    const message = this.#message;
    this.bodyUsed = true;
    this.#onBodyRead();
    const end = (act: () => void) => {
      if (!this.#hasBodyEnded) act();
      this.#hasBodyEnded = true;
    };
    const breakOff = () => end(() => controller.error(new Error("The connection was closed")));
    message.on("data", (chunk) => {
      message.pause();
      if (!this.#hasBodyEnded) controller.enqueue(chunk);
    });
    message.on("end", () => end(() => controller.close()));
    message.on("close", breakOff);
    message.on("error", breakOff);
  }
}

/** The headers of a message. Those of one name are joined by commas. Node would make an object of all headers. */
class MessageHeaders {
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

  has(name: string): boolean {
    return this.get(name) !== null;
  }
}
