/**
 * `node:http` for an open network: responds to requests without a `Host`, stops reading bodies without end, and says if
 * descriptors run out. It gives the handler a request with only those members that the handler uses, because a `Request`
 * of Node costs more than a read of the store.
 */

import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type HttpServer, type HttpServerOptions, reportAcceptFailure } from "../http_server.ts";
import { reasonOf } from "../logger.ts";
import { PlainRequest } from "./plain_request.ts";
import { PlainResponse } from "./response.ts";

/** Maximum size of the headers of a request, in bytes. */
const HEADERS_LIMIT_BYTES = 64 * 1024;

/** How long a connection with an unread body stays open, so that the client can read the response, in milliseconds. */
const LINGER_MS = 500;

/** How often the server looks whether file descriptors are free, in milliseconds. */
const LOOK_FOR_DESCRIPTORS_MS = 500;

/** Number of descriptors that must be free. With one or two, Node closes new connections, and a look may find one free. */
const FREE_DESCRIPTORS = 8;

/** Resolves when the server listens. Rejects with the system's error if it cannot. */
export async function serveHttp(options: HttpServerOptions): Promise<HttpServer> {
  const server = new NodeServer(options);
  await server.listen();
  return server;
}

class NodeServer implements HttpServer {
  readonly #options: HttpServerOptions;
  readonly #server: Server;
  /** Connections without a request so far. Node does not count them as idle. */
  readonly #unused = new Set<Socket>();
  #isShuttingDown = false;
  #watch: ReturnType<typeof setInterval> | undefined;

  constructor(options: HttpServerOptions) {
    this.#options = options;
    const server = createServer({
      // The checks of load balancers may send no `Host`.
      requireHostHeader: false,
      // As in Deno, the client or a proxy ends an idle connection.
      keepAliveTimeout: 0,
      maxHeaderSize: HEADERS_LIMIT_BYTES,
    });
    server.on("connection", (socket) => {
      this.#unused.add(socket);
      socket.once("close", () => this.#unused.delete(socket));
    });
    server.on("request", (message, response) => this.#answer(message, response));
    // Otherwise, Node would send `100 Continue` at once. Only a body that is read should be sent.
    server.on("checkContinue", (message, response) => this.#answer(message, response));
    // Otherwise, Node would respond with 417 and without a body.
    server.on("checkExpectation", (message, response) => this.#answer(message, response));
    // Node leaves the connection of such a request to its listener.
    server.on("connect", (message, socket: Socket) => {
      const response = new ServerResponse(message);
      response.assignSocket(socket);
      response.shouldKeepAlive = false;
      // Without a listener, a client that resets the connection would end the process.
      socket.on("error", () => {});
      response.once("finish", () => socket.end());
      this.#answer(message, response);
    });
    this.#server = server;
  }

  async listen(): Promise<void> {
    const { hostname, port, reusePort } = this.#options;
    this.#server.listen({ host: hostname, port, reusePort });
    await once(this.#server, "listening");
    this.#watchDescriptors();
  }

  get address(): HttpServer["address"] {
    const { address, port } = this.#server.address() as AddressInfo;
    return { hostname: address, port };
  }

  async shutdown(): Promise<void> {
    this.#isShuttingDown = true;
    clearInterval(this.#watch);
    const { promise: closed, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#closeIdle();
    await closed;
  }

  #closeIdle(): void {
    this.#server.closeIdleConnections();
    for (const socket of this.#unused) socket.destroy();
  }

  /** If descriptors run out, Node closes new connections and reports no error. Idle ones are closed to free some. */
  #watchDescriptors(): void {
    const { report } = this.#options;
    this.#server.on("error", (error) => reportAcceptFailure(report, reasonOf(error)));
    this.#watch = setInterval(() => {
      const lack = lackOfDescriptors();
      if (lack === undefined) return;
      reportAcceptFailure(report, `Too many open files (${lack})`);
      this.#closeIdle();
    }, LOOK_FOR_DESCRIPTORS_MS);
    this.#watch.unref();
  }

  async #answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const { refuse, report, respond } = this.#options;
    const { localPort, remoteAddress = "" } = message.socket;
    this.#unused.delete(message.socket);
    // Without `100 Continue`, a client that waits for it may still send its body, or never send it.
    let isUnasked = message.headers.expect?.toLowerCase() === "100-continue";
    const plain = new PlainRequest(message, response, localPort, () => {
      if (isUnasked) response.writeContinue();
      isUnasked = false;
    });
    const request = plain as unknown as Request;
    // Without a listener, an error of the connection would end the process.
    response.on("error", () => {});
    try {
      const answer = await respond(request, () => remoteAddress).catch((error) => {
        report("error", "answer_failed", { reason: reasonOf(error) });
        return refuse(error);
      });
      const mustClose = isUnasked || this.#mustClose(message, request, answer);
      if (mustClose) closeAfter(message, response);
      else if (this.#isShuttingDown) response.shouldKeepAlive = false;
      await send(answer, response, message.method === "HEAD");
    } catch (error) {
      report("error", "answer_failed", { reason: reasonOf(error) });
      response.destroy();
    }
    // The response may have begun before the shutdown, so its connection is idle now.
    if (this.#isShuttingDown) this.#closeIdle();
  }

  /** Whether the rest of the body must not be read: it is late, or may be endless. */
  #mustClose(message: IncomingMessage, request: Request, response: Response): boolean {
    if (message.complete) return false;
    const { isBounded, reader } = this.#options.unreadBodyOf(request);
    const isGivenUp = reader !== undefined || response.headers.get("connection") === "close";
    return isGivenUp || !isBounded;
  }
}

/** The code of the system's error if too few descriptors are free. */
function lackOfDescriptors(): string | undefined {
  const opened: number[] = [];
  try {
    while (opened.length < FREE_DESCRIPTORS) opened.push(openSync("/dev/null", "r"));
    return undefined;
  } catch (error) {
    const code = (error as { code?: string }).code;
    return code === "EMFILE" || code === "ENFILE" ? code : undefined;
  } finally {
    for (const descriptor of opened) closeSync(descriptor);
  }
}

/** Ends the connection after the response, and reads no more. An immediate end would reset it, and lose the response. */
function closeAfter(message: IncomingMessage, response: ServerResponse): void {
  const { socket } = message;
  response.shouldKeepAlive = false;
  // Otherwise, Node would read the body to its end.
  Object.assign(message, { _dump() {} });
  socket.destroySoon = () => {
    socket.pause();
    socket.end();
    setTimeout(() => socket.destroy(), LINGER_MS).unref();
  };
}

/** Resolves when the response is sent, or its client is gone. */
async function send(answer: Response, response: ServerResponse, isHead: boolean): Promise<void> {
  const { status } = answer;
  if (!(answer instanceof PlainResponse)) {
    response.writeHead(status, Object.fromEntries(answer.headers));
    await sendStream(answer.body, response, isHead);
    return;
  }
  const { headers: { fields }, source } = answer;
  if (source instanceof ReadableStream) {
    response.writeHead(status, fields);
    await sendStream(source, response, isHead);
    return;
  }
  const body = source as string | Uint8Array | null;
  if (typeof body === "string") fields["content-length"] = String(Buffer.byteLength(body));
  response.writeHead(status, fields);
  response.end(isHead ? undefined : body ?? undefined);
}

async function sendStream(
  stream: ReadableStream<Uint8Array> | null,
  response: ServerResponse,
  isHead: boolean,
): Promise<void> {
  const reader = stream?.getReader();
  if (isHead) await reader?.cancel();
  if (isHead || reader === undefined) {
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
