/** The port to the HTTP server of a runtime. `this-runtime/http_server.ts` has its `serveHttp()`. */

import type { Runtime } from "eventstore-less";
import type { Logger } from "./logger.ts";
import type { ServiceRequest, ServiceResponse } from "./service_request.ts";

export interface HttpServerOptions {
  /** If `hostname` and `port` are absent, the platform decides where to listen. */
  hostname?: string;
  port?: number;
  reusePort?: boolean;
  /**
   * Must not reject, unless `write` fails. Resolves to the result of `write`: one more promise for each request would
   * take a twentieth of a read.
   */
  respond<Written>(
    request: ServiceRequest,
    write: (response: ServiceResponse) => Written | Promise<Written>,
  ): Promise<Written>;
  /** The response to a request with which `respond` cannot be called, or whose response cannot be written. */
  refuse(fault: "malformed_host" | "malformed_target" | "failed"): ServiceResponse;
  runtime: Runtime;
  report: Logger;
}

export interface HttpServer {
  readonly address: { hostname: string; port: number };
  /** Stops accepting connections. Resolves when all responses are sent, and read by their clients. */
  shutdown(): Promise<unknown>;
}

export function reportAcceptFailure(report: Logger, reason: string): void {
  const remedy = "Raise the limit of open files (ulimit -n), or limit connections in front";
  report("error", "accept_failed", { reason, remedy });
}
