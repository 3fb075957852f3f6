/**
 * `node:http` for an open network: responds to requests without a `Host`, stops reading a body that may be endless, gives
 * each connection one response at a time, and bounds how long a client can hold a descriptor.
 */

import { Buffer } from "node:buffer";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type HttpServer, type HttpServerOptions, reportAcceptFailure } from "../http_server.ts";
import { reasonOf } from "../logger.ts";
import type { ServiceResponse } from "../service_request.ts";
import { Connection } from "./connection.ts";
import { HttpRequest } from "./http_request.ts";
import { refusalOf } from "./refusal.ts";

/** Maximum size of the headers of a request, in bytes. */
const HEADERS_LIMIT_BYTES = 64 * 1024;

/** Maximum time for the headers of a request to arrive, and how often this is checked, in milliseconds. */
const HEADERS_LIMIT_MS = 20_000;
const CHECK_HEADERS_MS = 5_000;

/**
 * A client that reads nothing of a response loses its connection after twice this time, in milliseconds, because Node
 * waits once more if it has sent a part of the last write.
 */
const UNREAD_LIMIT_MS = 10_000;

/** How long a connection with an unread body stays open, so that the client can read the response, in milliseconds. */
const LINGER_MS = 500;

/** Number of descriptors that connections leave to the store, the log and others; at most half of all. */
const OTHER_DESCRIPTORS = 64;

/** Resolves when the server listens. Rejects with the system's error if it cannot. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const server = new NodeServer(options);
  await server.listen();
  return server;
}

class NodeServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  readonly #connections = new Map<Socket, Connection>();

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const server = createServer({
      // The checks of load balancers may send no `Host`.
      requireHostHeader: false,
      // As in Deno, the client or a proxy ends an idle connection.
      keepAliveTimeout: 0,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
      headersTimeout: HEADERS_LIMIT_MS,
      connectionsCheckingInterval: CHECK_HEADERS_MS,
    });
    server.on("connection", (socket) => {
      this.#connections.set(socket, new Connection(socket));
      socket.once("close", () => this.#connections.delete(socket));
    });
    server.on("request", (message, response) => this.#take(message, response));
    // Otherwise, Node would send `100 Continue` at once. Only a body that is read should be sent.
    server.on("checkContinue", (message, response) => this.#take(message, response, true));
    // Otherwise, Node would respond with 417 and without a body.
    server.on("checkExpectation", (message, response) => this.#take(message, response));
    // Node leaves the connection of such a request to its listener.
    server.on("connect", (message, socket: Socket) => {
      // Without a listener, a client that resets the connection would end the process.
      socket.on("error", () => {});
      // Node does not queue the response to this request: it could mix with one that is not finished.
      if (this.#connections.get(socket)!.isBusy) socket.destroy();
      else this.#take(message, lastResponse(message));
    });
    // Otherwise, Node would refuse all that its parser refuses without a body.
    server.on("clientError", ({ code }: NodeJS.ErrnoException, socket: Socket) => {
      const isInWork = this.#connections.get(socket)?.isBusy ?? true;
      if (socket.writable && !isInWork) socket.write(refusalOf(code, options.refuse));
      socket.destroy();
    });
    server.setTimeout(UNREAD_LIMIT_MS, (socket) => {
      if (socket.writableLength > 0) socket.destroy();
    });
    server.on("drop", () => {
      reportAcceptFailure(options.report, `Too many open files (${server.maxConnections} clients)`);
      this.#closeIdle();
    });
    // Beyond the limit of the system, Node would close new connections and report nothing.
    server.maxConnections = connectionsLimit();
    this.#server = server;
  }

  async listen(): Promise<void> {
    const { hostname, port, reusePort } = this.#options;
    this.#server.listen({ host: hostname, port, reusePort });
    await once(this.#server, "listening");
    // Only now: an error of the listening itself is the caller's.
    this.#server.on("error", (error) => {
      reportAcceptFailure(this.#options.report, reasonOf(error));
    });
  }

  get address(): HttpServer["address"] {
    const { address, port } = this.#server.address() as AddressInfo;
    return { hostname: address, port };
  }

  async shutdown(): Promise<void> {
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    for (const connection of this.#connections.values()) connection.isClosing = true;
    this.#closeIdle();
    await closed;
  }

  #closeIdle(): void {
    for (const [socket, connection] of this.#connections) {
      if (!connection.isBusy) socket.destroy();
    }
  }

  /** `waitsToContinue` is whether the client sends its body only after `100 Continue`. */
  #take(message: IncomingMessage, response: ServerResponse, waitsToContinue = false): void {
    const connection = this.#connections.get(message.socket)!;
    connection.begin(response, () => {
      const request = new HttpRequest(message, response, connection, waitsToContinue);
      void this.#answer(request, message, response, connection);
    });
  }

  async #answer(
    request: HttpRequest,
    message: IncomingMessage,
    response: ServerResponse,
    connection: Connection,
  ): Promise<void> {
    const { report, respond } = this.#options;
    const isHead = message.method === "HEAD";
    // Without a listener, an error of the connection would end the process.
    response.on("error", () => {});
    try {
      await respond(request, (answer) => {
        const isLast = answer.headers.connection === "close" || connection.isClosing;
        const leavesBody = request.mustLeaveBody || isLast && !message.complete;
        if (leavesBody) {
          response.detachSocket(message.socket);
          return send(answer, lastResponse(message), isHead);
        }
        if (isLast || request.isUpgrade) response.shouldKeepAlive = false;
        return send(answer, response, isHead);
      });
    } catch (error) {
      report("error", "answer_failed", { reason: reasonOf(error) });
      message.socket.destroy();
    }
  }
}

/** The most connections for which the limit of open files suffices, if the system tells that limit. */
function connectionsLimit(): number {
  const path = "/proc/self/limits";
  if (!existsSync(path)) return Infinity;
  const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync(path, "utf8")) ?? [];
  if (limit === undefined) return Infinity;
  return Math.max(Number(limit) - OTHER_DESCRIPTORS, Math.floor(Number(limit) / 2));
}

/**
 * A response that Node does not know, after which the connection ends. After one that it knows, Node would read the rest
 * of the body, or close the connection at once; unread data then resets it, and the client may lose the response.
 */
function lastResponse(message: IncomingMessage): ServerResponse {
  const { socket } = message;
  const response = new ServerResponse(message);
  socket.pause();
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.once("finish", () => {
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  });
  return response;
}

/** Resolves when the response is sent, or its client is gone. */
async function send(
  { status, headers, body }: ServiceResponse,
  response: ServerResponse,
  isHead: boolean,
): Promise<void> {
  if (body instanceof ReadableStream) {
    response.writeHead(status, headers);
    await sendStream(body, response, isHead);
    return;
  }
  if (body !== null) headers["content-length"] = String(Buffer.byteLength(body));
  response.writeHead(status, headers);
  response.end(isHead ? undefined : body ?? undefined);
}

async function sendStream(
  stream: ReadableStream<Uint8Array>,
  response: ServerResponse,
  isHead: boolean,
): Promise<void> {
  const reader = stream.getReader();
  if (isHead) {
    await reader.cancel();
    response.end();
    return;
  }
  let isGone = response.destroyed;
  let onRoom = () => {};
  response.on("drain", () => onRoom());
  response.once("close", () => {
    isGone = true;
    onRoom();
    // Nothing else ends a stream that waits for events.
    reader.cancel().catch(() => {});
  });
  response.flushHeaders();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done || isGone) break;
      const { promise: room, resolve } = Promise.withResolvers<void>();
      onRoom = resolve;
      const hasRoom = response.write(value);
      if (!hasRoom && !isGone) await room;
    }
    response.end();
  } catch {
    response.destroy();
  }
}
