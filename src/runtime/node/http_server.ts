/**
 * `node:http` for an open network: responds to requests without a `Host`, stops reading a body that may be endless, gives
 * each connection one response at a time, and bounds how long a client can hold a descriptor.
 */

import { reasonOf } from "eventstore-less/startup";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type HttpServer, type HttpServerOptions, reportAcceptFailure } from "../http_server.ts";
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

/** How long a connection with unread bytes stays open, so that the client can read the response, in milliseconds. */
const LINGER_MS = 500;

/** Number of descriptors that connections leave to the store, the log and others; at most half of all. */
const OTHER_DESCRIPTORS = 64;

/** Resolves when the server listens. Rejects with the system's error if it cannot. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const server = new NodeServer(options);
  await server.listen();
  return server;
}

/** An exception in a listener would end the process. So listeners throw nothing, and leave the rest to `#answer`. */
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
      // Node calls this after a last response, and would close the socket at once.
      socket.destroySoon = () => endGently(socket);
      this.#connections.set(socket, new Connection(socket));
      socket.once("close", () => this.#connections.delete(socket));
    });
    // Otherwise, Node would lose the response to a request after which the client sends nothing more.
    Object.assign(server, { httpAllowHalfOpen: true });
    server.on("request", (message, response) => this.#take(message, response));
    // Otherwise, Node would send `100 Continue` at once. Only a body that is read should be sent.
    server.on("checkContinue", (message, response) => this.#take(message, response, true));
    // Otherwise, Node would respond with 417 and without a body.
    server.on("checkExpectation", (message, response) => this.#take(message, response));
    server.on("connect", (message, socket: Socket) => this.#takeLast(message, socket));
    // Otherwise, Node would refuse what is not HTTP at once, in place of a response that is not sent yet.
    server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
      this.#refuse(error, socket);
    });
    server.setTimeout(UNREAD_LIMIT_MS, endUnread);
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
    const connection = this.#connections.get(message.socket);
    if (connection === undefined) return;
    connection.begin(response, () => {
      void this.#answer(message, () => response, connection, waitsToContinue);
    });
  }

  /** Takes a request with CONNECT, whose connection Node leaves to its listener: it removes all its own listeners. */
  #takeLast(message: IncomingMessage, socket: Socket): void {
    // Without a listener, a client that resets the connection would end the process.
    socket.on("error", () => {});
    // The responses before this one still need these two.
    socket.on("timeout", () => endUnread(socket));
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    socket.on("drain", () => connection.onDrain());
    connection.beginLast(() => {
      void this.#answer(message, () => lastResponse(message), connection, false);
    });
  }

  /** Ends a connection on which what is not HTTP has arrived, or nothing for too long, after the responses before. */
  #refuse({ code }: NodeJS.ErrnoException, socket: Socket): void {
    const connection = this.#connections.get(socket);
    if (connection === undefined) return;
    const { isInBody } = connection;
    connection.beginLast(() => {
      // The response to a request whose body is broken off is also that to the error.
      if (!isInBody) socket.write(refusalOf(code, this.#options.refuse));
      endGently(socket);
    });
  }

  async #answer(
    message: IncomingMessage,
    responseOf: () => ServerResponse,
    connection: Connection,
    waitsToContinue: boolean,
  ): Promise<void> {
    const { report, respond } = this.#options;
    const isHead = message.method === "HEAD";
    try {
      const response = responseOf();
      // Without a listener, an error of the connection would end the process.
      response.on("error", () => {});
      const request = new HttpRequest(message, response, connection, waitsToContinue);
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

/** Ends a connection whose client reads nothing. */
function endUnread(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}

/**
 * Ends a connection, and gives the client time to read what was sent: to close a socket with unread bytes resets it,
 * and then the client may lose a response.
 */
function endGently(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
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
 * of the body.
 */
function lastResponse(message: IncomingMessage): ServerResponse {
  const { socket } = message;
  const response = new ServerResponse(message);
  socket.pause();
  response.assignSocket(socket);
  response.shouldKeepAlive = false;
  response.once("finish", () => endGently(socket));
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
