/** `Deno.serve` for an open network: survives a lack of descriptors. */

import { sleep } from "eventstore-less/parts";
import { reasonOf } from "eventstore-less/startup";
import { type HttpServer, type HttpServerOptions, reportAcceptFailure } from "../http_server.ts";
import { ENDED, HttpRequest, type Listener, toResponse } from "./http_request.ts";

/** Delay before the server listens again after it failed to accept a connection, in milliseconds. */
const LISTEN_AGAIN_MS = 100;

/** Rejects as `Deno.serve` throws if it cannot listen. */
// deno-lint-ignore require-await -- another runtime listens asynchronously
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  return new DenoServer(options);
}

class DenoServer implements HttpServer {
  readonly address: Deno.NetAddr;
  readonly #options: HttpServerOptions;
  #listener: Listener;
  #current: Deno.HttpServer<Deno.NetAddr>;
  /** Shutdowns of servers that failed to accept a connection, and finish their last requests. */
  #closing: Promise<unknown> = Promise.resolve();
  #isShuttingDown = false;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    this.#current = this.#listen(options.hostname, options.port);
    this.address = this.#current.addr;
    this.#listener = { localPort: this.address.port, urlWithoutHost: urlWithoutHost(this.address) };
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
        return toResponse(refuse(isHost ? "malformed_host" : "failed"));
      },
    }, (web, peer) => {
      const request = new HttpRequest(web, peer, this.#listener);
      if (request.isTargetMalformed) return request.answer(refuse("malformed_target"));
      return respond(request, (response) => request.answer(response));
    });
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
