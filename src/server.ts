/** `Deno.serve` for an open network: it outlives a lack of file descriptors, and ends bodies that nobody reads. */

import type { Runtime } from "./runtime.ts";
import type { RequestHandler } from "./http/handler.ts";
import { abandonedBodies, isBodyBounded } from "./http/request_body.ts";
import { type Logger, reasonOf } from "./logger.ts";

/** How long to wait before the server listens again after it could not accept a connection. */
const LISTEN_AGAIN_MS = 100;

/** After this time without a failure, the next failure is reported again. */
const QUIET_MS = 10_000;

/** How many servers that accept no more connections keep serving the ones that they have. */
const OLD_SERVERS_LIMIT = 8;

/** By now the answer is out, and Deno does not read on if the body is given up. */
const ANSWER_SENT_MS = 100;

export interface ServerOptions {
  /** If it is left out, like `port`, the platform says where to listen. */
  hostname?: string;
  port?: number;
  handler: RequestHandler;
  runtime: Runtime;
  report: Logger;
}

/** Throws what `Deno.serve` throws if the address cannot be had at first. */
export class Server {
  #options: ServerOptions;
  #current: Deno.HttpServer<Deno.NetAddr>;
  /** Servers that accept no more connections, and may still have some. */
  #old: Deno.HttpServer<Deno.NetAddr>[] = [];
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
    await Promise.allSettled([this.#current, ...this.#old].map((server) => server.shutdown()));
  }

  #listen(hostname: string | undefined, port: number | undefined): Deno.HttpServer<Deno.NetAddr> {
    const { report } = this.#options;
    return Deno.serve({
      hostname,
      port,
      onListen: () => {},
      onError: (error) => {
        if (error !== ENDED) report("error", "answer_failed", { reason: reasonOf(error) });
        return new Response(null, { status: 500 });
      },
    }, (request, info) => this.#answer(request, info));
  }

  /** Where file descriptors run out, Deno stops accepting for ever, and says so by `finished` alone. */
  async #superviseUntilShutdown(): Promise<void> {
    const { runtime, report } = this.#options;
    while (!this.#isShuttingDown) {
      let reason: string;
      try {
        await this.#current.finished;
        return;
      } catch (error) {
        reason = reasonOf(error);
      }
      if (runtime.monotonicNow() - this.#failedAt > QUIET_MS) {
        report("error", "accept_failed", {
          reason,
          remedy: "Raise the limit of open files (ulimit -n), or limit connections in front",
        });
      }
      this.#failedAt = runtime.monotonicNow();
      this.#retire(this.#current);
      await this.#listenAgain();
    }
  }

  #retire(server: Deno.HttpServer<Deno.NetAddr>): void {
    this.#old.push(server);
    if (this.#old.length <= OLD_SERVERS_LIMIT) return;
    // Its idle connections are closed, the others when they are answered.
    this.#old.shift()!.shutdown().catch(() => {});
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
      } catch {
        // There is no descriptor for the listener either.
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
 * Ends the connection after the head of a response. Only an error of the response's stream keeps Deno from
 * reading a body that the handler cannot see, and that error leaves no room for a body of the response.
 */
function endedResponse(status: number): Response {
  const body = new ReadableStream({ start: (controller) => controller.error(ENDED) });
  return new Response(body, { status });
}

/**
 * The response to a refused request, such that Deno does not read the rest of a body that may be endless.
 * Deno reads a body that was left unread to its end, whatever the response says, with two exceptions that
 * were found by trying (Deno 2.9.6): if the response is a stream and the body was looked at but not read, Deno
 * closes the connection; if a reader holds the body until after the response, Deno reads no more. Such a
 * reader must let go in the end, or the file descriptor would be lost.
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
    runtime.setTimer(ANSWER_SENT_MS, () => void reader.cancel().catch(() => {}));
    return response;
  }
  if (isBodyBounded(request.headers) || request.bodyUsed || request.body === null) return response;
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
