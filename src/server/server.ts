/** The HTTP server of an instance: connects the server of the runtime to the handler, and shuts it down. */

import { serveHttp } from "this-runtime/http_server.ts";
import type { HttpServer } from "../runtime/http_server.ts";
import type { Logger } from "../runtime/logger.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { errorResponse } from "../api/errors.ts";
import { type RequestHandler, responseOf } from "../http/handler.ts";
import { malformedHostError } from "../http/routes.ts";
import { abandonedBodies, isBodyBounded } from "../api/requests/request_body.ts";

/** Time that clients have to read the last responses at a shutdown, in milliseconds. */
const READ_LIMIT_MS = 1_000;

export interface ServerOptions {
  /** If `hostname` and `port` are absent, the platform decides where to listen. */
  hostname?: string;
  port?: number;
  reusePort?: boolean;
  handler: RequestHandler;
  runtime: Runtime;
  report: Logger;
}

export class Server {
  readonly #options: ServerOptions;
  #http: HttpServer | undefined;
  #urlWithoutHost: string | undefined;
  #isShuttingDown = false;
  #isLeaving = false;
  #handling = 0;
  #unread = Promise.withResolvers<void>();
  #cancelUnread = () => {};

  private constructor(options: ServerOptions) {
    this.#options = options;
  }

  /** Resolves when the server listens. Rejects with the system's error if it cannot. */
  static async listen(options: ServerOptions): Promise<Server> {
    const server = new Server(options);
    const { hostname, port, reusePort, report, runtime } = options;
    server.#http = await serveHttp({
      hostname,
      port,
      reusePort,
      report,
      runtime,
      respond: (request, clientAddress) => server.#answer(request, clientAddress),
      refuse: (error) => {
        const isHost = error instanceof TypeError && error.message.startsWith("Invalid URL");
        return responseOf(errorResponse(isHost ? malformedHostError() : error), runtime.newId());
      },
      unreadBodyOf: (request) => ({
        isBounded: isBodyBounded(request.headers),
        reader: abandonedBodies.get(request),
      }),
    });
    return server;
  }

  get addr(): HttpServer["address"] {
    return this.#http!.address;
  }

  /** Closes each connection after its next response, so that clients connect to another process of the port. */
  leave(): void {
    this.#isLeaving = true;
  }

  /** Stops accepting connections. Resolves when all requests have their responses, but for clients that do not read. */
  async shutdown(): Promise<void> {
    this.#isShuttingDown = true;
    this.#awaitReaders();
    await Promise.race([this.#http!.shutdown(), this.#unread.promise]);
    this.#cancelUnread();
  }

  /** Limits the wait for clients that have stopped reading, for whom the server of a runtime waits without a limit. */
  #awaitReaders(): void {
    this.#cancelUnread();
    if (!this.#isShuttingDown || this.#handling > 0) return;
    this.#cancelUnread = this.#options.runtime.setTimer(READ_LIMIT_MS, this.#unread.resolve);
  }

  async #answer(request: Request, clientAddress: () => string): Promise<Response> {
    this.#cancelUnread();
    this.#handling++;
    this.#urlWithoutHost ??= urlWithoutHost(this.addr);
    const connection = { clientAddress, urlWithoutHost: this.#urlWithoutHost };
    const response = await this.#options.handler(request, connection);
    this.#handling--;
    this.#awaitReaders();
    if (this.#isLeaving) response.headers.set("connection", "close");
    const http = this.#http!;
    const isRefused = response.status >= 400 && http.leaveBodyUnread !== undefined;
    // One more asynchronous function for all requests would take a twentieth of a read.
    return isRefused ? await http.leaveBodyUnread!(request, response) : response;
  }
}

/** The start of a URL without a `Host`. An HTTP/2 request for exactly this authority looks the same, and is refused. */
function urlWithoutHost({ hostname, port }: HttpServer["address"]): string {
  const shownPort = port === 80 ? "" : `:${port}`;
  return `http://${hostInUrl(hostname)}${shownPort}/`;
}

function hostInUrl(hostname: string): string {
  const isLocal = ["0.0.0.0", "::", "::1"].includes(hostname) || hostname.startsWith("127.");
  if (isLocal) return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}
