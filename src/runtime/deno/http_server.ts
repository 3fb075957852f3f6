/** `Deno.serve` for an open network: survives a lack of descriptors, and cuts off unread bodies. */

import { type HttpServer, type HttpServerOptions, reportAcceptFailure } from "../http_server.ts";
import { reasonOf } from "../logger.ts";
import { sleep } from "../runtime.ts";

/** Delay before the server listens again after it failed to accept a connection, in milliseconds. */
const LISTEN_AGAIN_MS = 100;

/** Delay between a response and the cancellation of its abandoned request body, in milliseconds. */
const CANCEL_BODY_AFTER_MS = 100;

/**
 * Methods whose bodies Deno hides from the handler but still reads to their end. We found no way to stop this for HEAD,
 * so the proxy in front must limit the bodies of HEAD requests.
 */
const BODY_HIDDEN: ReadonlySet<string> = new Set(["GET", "CONNECT"]);

/** The error that ends a response and its connection. */
const ENDED = new Error("The connection was closed because the request body has no limit");

/** Rejects as `Deno.serve` throws if it cannot listen. */
// deno-lint-ignore require-await -- another runtime listens asynchronously
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  return new DenoServer(options);
}

class DenoServer implements HttpServer {
  readonly address: Deno.NetAddr;
  readonly #options: HttpServerOptions;
  #current: Deno.HttpServer<Deno.NetAddr>;
  /** Shutdowns of servers that failed to accept a connection, and finish their last requests. */
  #closing: Promise<unknown> = Promise.resolve();
  #isShuttingDown = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#current = this.#listen(options.hostname, options.port);
    this.address = this.#current.addr;
    this.#superviseUntilShutdown();
  }

  shutdown(): Promise<unknown> {
    this.#isShuttingDown = true;
    return Promise.allSettled([this.#current.shutdown(), this.#closing]);
  }

  #listen(hostname: string | undefined, port: number | undefined): Deno.HttpServer<Deno.NetAddr> {
    const { refuse, respond, reusePort, report } = this.#options;
    return Deno.serve({
      hostname,
      port,
      reusePort,
      onListen: () => {},
      onError: (error) => {
        // With telemetry on, Deno parses the URL before it calls the handler. A bad Host makes it invalid.
        const isHost = error instanceof TypeError && error.message.startsWith("Invalid URL");
        const isDefect = error !== ENDED && !isHost;
        if (isDefect) report("error", "answer_failed", { reason: reasonOf(error) });
        return refuse(error);
      },
    }, (request, info) => respond(request, () => info.remoteAddr.hostname));
  }

  /**
   * If file descriptors run out, Deno stops accepting connections permanently, and only `finished` reports it. The
   * shutdown frees descriptors: it closes idle connections at once, and the others after their responses.
   */
  async #superviseUntilShutdown(): Promise<void> {
    while (!this.#isShuttingDown) {
      try {
        await this.#current.finished;
        return;
      } catch (error) {
        reportAcceptFailure(this.#options.report, reasonOf(error));
      }
      this.#closing = Promise.allSettled([this.#closing, this.#current.shutdown()]);
      await sleep(this.#options.runtime, LISTEN_AGAIN_MS);
      if (this.#isShuttingDown) return;
      try {
        // Use the configured name, because the permission to listen covers that name only.
        const hostname = this.#options.hostname ?? this.address.hostname;
        this.#current = this.#listen(hostname, this.address.port);
      } catch (error) {
        // Usually no file descriptor is free for the listener either.
        reportAcceptFailure(this.#options.report, reasonOf(error));
      }
    }
  }

  /**
   * Keeps Deno from reading the rest of a refused body, which may be endless. A body of a declared length within the
   * limit is left to Deno, which then keeps the connection open. Trials with Deno 2.9.6 found two ways for any other:
   * 1. If nothing was read: access the getter `request.body`, and respond with a stream. Deno closes the connection.
   * 2. If a part was read: keep the body locked by its reader, so that Deno cannot read on. Cancel through that reader
   *    after the response is sent; otherwise the file descriptor leaks.
   */
  async leaveBodyUnread(request: Request, response: Response): Promise<Response> {
    const { runtime, unreadBodyOf } = this.#options;
    const { isBounded, reader } = unreadBodyOf(request);
    if (reader !== undefined) {
      runtime.setTimer(CANCEL_BODY_AFTER_MS, () => void reader.cancel().catch(() => {}));
      return response;
    }
    if (isBounded || request.bodyUsed) return response;
    if (BODY_HIDDEN.has(request.method)) {
      // Only an error of the stream stops Deno here. It ends the response before its first byte.
      const body = new ReadableStream({ start: (controller) => controller.error(ENDED) });
      return new Response(body, { status: response.status });
    }
    // This touches the body, as the first way requires.
    if (request.body === null) return response;
    const bytes = await response.bytes();
    const { status, headers } = response;
    headers.set("content-length", String(bytes.length));
    return new Response(new Blob([bytes]).stream(), { status, headers });
  }
}
