/** The HTTP server of an instance: connects the server of the runtime to the handler, and shuts it down. */

import type { Runtime } from "eventstore-less";
import { serveHttp } from "this-runtime/http_server.ts";
import type { HttpServer } from "../runtime/http_server.ts";
import type { Logger } from "../runtime/logger.ts";
import { errorResponse } from "../api/errors.ts";
import type {
  RequestHandler,
  ServiceRequest,
  ServiceResponse,
} from "../runtime/service_request.ts";
import { responseOf } from "../http/handler.ts";
import { malformedHostError, malformedTargetError } from "../http/routes.ts";

/** Time that clients have to read the last responses at a shutdown, in milliseconds. */
const READ_LIMIT_MS = 1_000;

/** The errors of requests that the handler does not get, and of responses that cannot be sent. */
const REFUSALS = {
  malformed_host: malformedHostError,
  malformed_target: malformedTargetError,
  failed: () => new Error("No response could be sent"),
};

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
      respond: (request, write) => server.#respond(request, write),
      refuse: (fault) => responseOf(errorResponse(REFUSALS[fault]()), runtime.newId()),
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

  async #respond<Written>(
    request: ServiceRequest,
    write: (response: ServiceResponse) => Written | Promise<Written>,
  ): Promise<Written> {
    this.#cancelUnread();
    this.#handling++;
    const response = await this.#options.handler(request);
    this.#handling--;
    this.#awaitReaders();
    if (this.#isLeaving) response.headers.connection = "close";
    return write(response);
  }
}
