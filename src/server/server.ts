/** `Deno.serve` for an open network: survives a lack of descriptors, and cuts off unread bodies. */

import { type Runtime, sleep } from "../runtime/runtime.ts";
import { errorResponse } from "../api/errors.ts";
import { type RequestHandler, responseOf } from "../http/handler.ts";
import { malformedHostError } from "../http/routes.ts";
import { type Logger, reasonOf } from "../runtime/logger.ts";
import { abandonedBodies, isBodyBounded } from "../api/requests/request_body.ts";

/** Delay before the server listens again after it failed to accept a connection, in milliseconds. */
const LISTEN_AGAIN_MS = 100;

/** After this time without a failure, in milliseconds, the next failure is reported again. */
const QUIET_MS = 10_000;

/** Time that clients have to read the last responses at a shutdown, in milliseconds. */
const READ_LIMIT_MS = 1_000;

/** Delay between a response and the cancellation of its abandoned request body, in milliseconds. */
const CANCEL_BODY_AFTER_MS = 100;

/**
 * Methods whose bodies Deno hides from the handler but still reads to their end. We found no way to stop this for HEAD,
 * so the proxy in front must limit the bodies of HEAD requests.
 */
const BODY_HIDDEN: ReadonlySet<string> = new Set(["GET", "CONNECT"]);

/** The error that ends a response and its connection. */
const ENDED = new Error("The connection was closed because the request body has no limit");

export interface ServerOptions {
  /** If `hostname` and `port` are absent, the platform decides where to listen. */
  hostname?: string;
  port?: number;
  reusePort?: boolean;
  handler: RequestHandler;
  runtime: Runtime;
  report: Logger;
}

/** The constructor throws as `Deno.serve` does if it cannot listen. */
export class Server {
  readonly addr: Deno.NetAddr;
  readonly #options: ServerOptions;
  readonly #urlWithoutHost: string;
  #current: Deno.HttpServer<Deno.NetAddr>;
  /** Shutdowns of servers that failed to accept a connection, and finish their last requests. */
  #closing: Promise<unknown> = Promise.resolve();
  #failedAt = -Infinity;
  #isShuttingDown = false;
  #isLeaving = false;
  #handling = 0;
  #unread = Promise.withResolvers<void>();
  #cancelUnread = () => {};

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#current = this.#listen(options.hostname, options.port);
    this.addr = this.#current.addr;
    this.#urlWithoutHost = urlWithoutHost(this.addr);
    this.#superviseUntilShutdown();
  }

  /** Closes each connection after its next response, so that clients connect to another process of the port. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Stops accepting connections. Resolves when all requests have their responses, but for clients that do not read. */
  async shutdown(): Promise<void> {
    this.#isShuttingDown = true;
    this.#awaitReaders();
    const closed = Promise.allSettled([this.#current.shutdown(), this.#closing]);
    await Promise.race([closed, this.#unread.promise]);
    this.#cancelUnread();
  }

  /** Deno cannot close one connection, and waits for a client that has stopped reading without a limit. */
  #awaitReaders(): void {
    this.#cancelUnread();
    if (!this.#isShuttingDown || this.#handling > 0) return;
    this.#cancelUnread = this.#options.runtime.setTimer(READ_LIMIT_MS, this.#unread.resolve);
  }

  #listen(hostname: string | undefined, port: number | undefined): Deno.HttpServer<Deno.NetAddr> {
    const { report, reusePort, runtime } = this.#options;
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
        return responseOf(errorResponse(isHost ? malformedHostError() : error), runtime.newId());
      },
    }, (request, info) => this.#answer(request, info));
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
        this.#reportFailure(error);
      }
      this.#closing = Promise.allSettled([this.#closing, this.#current.shutdown()]);
      await sleep(this.#options.runtime, LISTEN_AGAIN_MS);
      if (this.#isShuttingDown) return;
      try {
        // Use the configured name, because the permission to listen covers that name only.
        const hostname = this.#options.hostname ?? this.addr.hostname;
        this.#current = this.#listen(hostname, this.addr.port);
      } catch (error) {
        // Usually no file descriptor is free for the listener either.
        this.#reportFailure(error);
      }
    }
  }

  #reportFailure(error: unknown): void {
    const { runtime, report } = this.#options;
    const isFirst = runtime.monotonicNow() - this.#failedAt > QUIET_MS;
    this.#failedAt = runtime.monotonicNow();
    if (!isFirst) return;
    report("error", "accept_failed", {
      reason: reasonOf(error),
      remedy: "Raise the limit of open files (ulimit -n), or limit connections in front",
    });
  }

  async #answer(request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>): Promise<Response> {
    const { handler, runtime } = this.#options;
    this.#cancelUnread();
    this.#handling++;
    const response = await handler(request, {
      // A function, because reading the address costs Deno a call.
      clientAddress: () => info.remoteAddr.hostname,
      urlWithoutHost: this.#urlWithoutHost,
    });
    this.#handling--;
    this.#awaitReaders();
    if (this.#isLeaving) response.headers.set("connection", "close");
    return response.status < 400 ? response : await leaveBodyUnread(request, response, runtime);
  }
}

/** The start of a URL without a `Host`. An HTTP/2 request for exactly this authority looks the same, and is refused. */
function urlWithoutHost({ hostname, port }: Deno.NetAddr): string {
  const shownPort = port === 80 ? "" : `:${port}`;
  return `http://${hostInUrl(hostname)}${shownPort}/`;
}

function hostInUrl(hostname: string): string {
  const isLocal = ["0.0.0.0", "::", "::1"].includes(hostname) || hostname.startsWith("127.");
  if (isLocal) return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/**
 * Keeps Deno from reading the rest of a refused body, which may be endless. A body of a declared length within the
 * limit is left to Deno, which then keeps the connection open. Trials with Deno 2.9.6 found two ways for any other:
 * 1. If nothing was read: access the getter `request.body`, and respond with a stream. Deno closes the connection.
 * 2. If a part was read: keep the body locked by its reader, so that Deno cannot read on. Cancel through that reader
 *    after the response is sent; otherwise the file descriptor leaks.
 */
async function leaveBodyUnread(request: Request, response: Response, runtime: Runtime) {
  const reader = abandonedBodies.get(request);
  if (reader !== undefined) {
    runtime.setTimer(CANCEL_BODY_AFTER_MS, () => void reader.cancel().catch(() => {}));
    return response;
  }
  if (isBodyBounded(request.headers) || request.bodyUsed) return response;
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
