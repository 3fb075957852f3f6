/** `Deno.serve` for an open network: survives a lack of file descriptors, and ends bodies that are not read. */

import type { Runtime } from "./runtime.ts";
import { errorResponse } from "./http/errors.ts";
import { type RequestHandler, responseOf } from "./http/handler.ts";
import { abandonedBodies, isBodyBounded } from "./http/request_body.ts";
import { malformedHost } from "./http/request_target.ts";
import { type Logger, reasonOf } from "./logger.ts";

/** How long to wait before the server listens again after it could not accept a connection. */
const LISTEN_AGAIN_MS = 100;

/** After this time without a failure, the next failure is reported again. */
const QUIET_MS = 10_000;

/** How many servers that accept no more connections keep serving the ones that they have. */
const OLD_SERVERS_LIMIT = 8;

/** When an abandoned body is cancelled, in milliseconds after its answer: the answer is sent by then. */
const CANCEL_BODY_AFTER_MS = 100;

export interface ServerOptions {
  /** If it is left out, like `port`, the platform says where to listen. */
  hostname?: string;
  port?: number;
  handler: RequestHandler;
  runtime: Runtime;
  report: Logger;
}

/** The constructor throws the error of `Deno.serve` if it cannot listen. */
export class Server {
  #options: ServerOptions;
  #current: Deno.HttpServer<Deno.NetAddr>;
  /** Servers that accept no more connections, and may still have some. */
  #old: Deno.HttpServer<Deno.NetAddr>[] = [];
  /** Servers that answer their last requests. */
  #closing = new Set<Promise<unknown>>();
  #addr: Deno.NetAddr;
  #urlWithoutHost: string;
  #failedAt = -Infinity;
  #isShuttingDown = false;

  constructor(options: ServerOptions) {
    this.#options = options;
    this.#current = this.#listen(options.hostname, options.port);
    this.#addr = this.#current.addr;
    this.#urlWithoutHost = urlWithoutHost(this.#addr);
    this.#superviseUntilShutdown();
  }

  get addr(): Deno.NetAddr {
    return this.#addr;
  }

  /** Accepts no more connections. Resolves when all requests are answered. */
  async shutdown(): Promise<void> {
    this.#isShuttingDown = true;
    const closing = [this.#current, ...this.#old].map((server) => server.shutdown());
    await Promise.allSettled([...closing, ...this.#closing]);
  }

  #listen(hostname: string | undefined, port: number | undefined): Deno.HttpServer<Deno.NetAddr> {
    const { report, runtime } = this.#options;
    return Deno.serve({
      hostname,
      port,
      onListen: () => {},
      onError: (error) => {
        // With telemetry on, Deno parses the URL before the handler sees it, and a Host can make it malformed.
        const isHost = error instanceof TypeError && error.message.startsWith("Invalid URL");
        if (error !== ENDED && !isHost) {
          report("error", "answer_failed", { reason: reasonOf(error) });
        }
        return responseOf(errorResponse(isHost ? malformedHost() : error), runtime.newId());
      },
    }, (request, info) => this.#answer(request, info));
  }

  /**
   * If file descriptors run out, Deno stops accepting connections permanently. Only the rejection of
   * `finished` reports it.
   */
  async #superviseUntilShutdown(): Promise<void> {
    while (!this.#isShuttingDown) {
      try {
        await this.#current.finished;
        return;
      } catch (error) {
        this.#reportFailure(error);
      }
      this.#retire(this.#current);
      await this.#listenAgain();
    }
  }

  /** Reports the first of the failures that follow each other. */
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

  #retire(server: Deno.HttpServer<Deno.NetAddr>): void {
    this.#old.push(server);
    if (this.#old.length <= OLD_SERVERS_LIMIT) return;
    // Its idle connections are closed at once, the others when they are answered.
    const closing = this.#old.shift()!.shutdown().catch(() => {});
    this.#closing.add(closing);
    closing.finally(() => this.#closing.delete(closing));
  }

  async #listenAgain(): Promise<void> {
    const { runtime } = this.#options;
    while (!this.#isShuttingDown) {
      await new Promise<void>((resolve) => runtime.setTimer(LISTEN_AGAIN_MS, resolve));
      if (this.#isShuttingDown) return;
      try {
        // By the name that was configured, for the permission to listen is given to that name.
        const hostname = this.#options.hostname ?? this.#addr.hostname;
        this.#current = this.#listen(hostname, this.#addr.port);
        return;
      } catch (error) {
        // Mostly, there is no descriptor for the listener either.
        this.#reportFailure(error);
      }
    }
  }

  async #answer(
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Promise<Response> {
    const { handler, runtime } = this.#options;
    const response = await handler(request, {
      // Asked for if it is needed only: it costs Deno a call.
      clientAddress: () => info.remoteAddr.hostname,
      urlWithoutHost: this.#urlWithoutHost,
    });
    return response.status < 400 ? response : await withoutBody(request, response, runtime);
  }
}

/**
 * How Deno begins the URL of a request without a `Host`. An HTTP/2 request for that very authority looks the
 * same, and is refused like it.
 */
function urlWithoutHost({ hostname, port }: Deno.NetAddr): string {
  const isLocal = ["0.0.0.0", "::", "::1"].includes(hostname) || hostname.startsWith("127.");
  const host = isLocal ? "localhost" : hostname.includes(":") ? `[${hostname}]` : hostname;
  return `http://${host}${port === 80 ? "" : `:${port}`}/`;
}

/**
 * Methods whose body Deno does not show to the handler, and reads to its end nevertheless. Nothing was found
 * that stops it for HEAD: there, the proxy in front has to limit bodies.
 */
const BODY_HIDDEN: ReadonlySet<string> = new Set(["GET", "CONNECT"]);

/** What ends a response together with its connection. */
const ENDED = new Error("The connection is ended, since its request has a body without a limit");

/**
 * A response without a body that ends its connection. An error of the response's stream is all that keeps Deno
 * from reading a body that the handler cannot see, and it ends the stream before the first byte.
 */
function endedResponse(status: number): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(ENDED) });
  return new Response(body, { status });
}

/**
 * The response to a request whose body may be unread and endless, such that Deno does not read the rest.
 *
 * A body of a declared length within the limit is left to Deno, which then keeps the connection open. Any other
 * one Deno would read to its end, whatever the response says. Trials with Deno 2.9.6 found two ways out:
 * 1. Nothing was read: if `request.body` was touched and the response is a stream, Deno closes the connection.
 * 2. Something was read: while a reader holds the body, Deno reads nothing. The reader must cancel the body
 *    after the response is sent; otherwise the file descriptor leaks.
 */
async function withoutBody(
  request: Request,
  response: Response,
  runtime: Runtime,
): Promise<Response> {
  if (BODY_HIDDEN.has(request.method)) {
    return isBodyBounded(request.headers) ? response : endedResponse(response.status);
  }
  const reader = abandonedBodies.get(request);
  if (reader !== undefined) {
    runtime.setTimer(CANCEL_BODY_AFTER_MS, () => void reader.cancel().catch(() => {}));
    return response;
  }
  if (isBodyBounded(request.headers) || request.bodyUsed) return response;
  // This touches the body, as the first way needs.
  if (request.body === null) return response;
  const bytes = await response.bytes();
  const { status, headers } = response;
  headers.set("content-length", String(bytes.length));
  const body = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return new Response(body, { status, headers });
}
