/** The port to the HTTP server of a runtime. `this-runtime/http_server.ts` has its `serveHttp()`. */

import type { Logger } from "./logger.ts";
import type { Runtime } from "./runtime.ts";

export interface HttpServerOptions {
  /** If `hostname` and `port` are absent, the platform decides where to listen. */
  hostname?: string;
  port?: number;
  reusePort?: boolean;
  /** Must not reject. `clientAddress` is a function, because reading the address costs a call. */
  respond(request: Request, clientAddress: () => string): Promise<Response>;
  /** Responds to a request if `respond` cannot be called with it, or has failed. */
  refuse(error: unknown): Response;
  /** Says what a refused request leaves unread. */
  unreadBodyOf(request: Request): UnreadBody;
  runtime: Runtime;
  report: Logger;
}

export interface UnreadBody {
  /** Whether its declared length is within the limit of bodies. Otherwise, the server must not read it to its end. */
  isBounded: boolean;
  /** The reader of a body of which a part was read. */
  reader: ReadableStreamDefaultReader | undefined;
}

export interface HttpServer {
  readonly address: { hostname: string; port: number };
  /**
   * Makes the response to a refused request one after which the server does not read the rest of the body. A server that
   * decides this without another response does not have it.
   */
  leaveBodyUnread?(request: Request, response: Response): Promise<Response>;
  /** Stops accepting connections. Resolves when all responses are sent, and read by their clients. */
  shutdown(): Promise<unknown>;
}

export function reportAcceptFailure(report: Logger, reason: string): void {
  const remedy = "Raise the limit of open files (ulimit -n), or limit connections in front";
  report("error", "accept_failed", { reason, remedy });
}
