import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Ends } from "./http_request.ts";

/** Number of requests of all connections that may wait at a time. Each takes some 2 KB. */
const WAITING_LIMIT = 10_000;

/** A request, or the end of the connection, that waits for the responses to the requests before. */
interface Waiting {
  /** The response to a request. `undefined` for what ends the connection, after which nothing begins. */
  response: ServerResponse | undefined;
  begin: () => void;
}

/**
 * A connection, whose requests begin one after the other, as on Deno. Node would begin all requests that come in one
 * packet, and keep all their responses until the client has read them.
 */
export class Connection implements Ends {
  static #waitingCount = 0;
  readonly clientAddress: string;
  readonly localPort: number;
  readonly #socket: Socket;
  readonly #waiting: Waiting[] = [];
  /** The response to the request in work. */
  #current: ServerResponse | undefined;
  /** The request that came last, up to its end and its response. */
  #newest: IncomingMessage | undefined;
  #isBusy = false;
  #isOver = false;
  #hasLast = false;
  /** Whether the connection is to be closed after the response to the request in work. */
  isClosing = false;
  onOver = () => {};

  constructor(socket: Socket) {
    // Both are unknown once the client is gone.
    this.clientAddress = socket.remoteAddress ?? "";
    this.localPort = socket.localPort ?? 0;
    this.#socket = socket;
    // Node resumes the socket after each response that is sent, also while requests wait.
    socket.on("resume", () => {
      if (this.#waiting.length > 0 || this.#hasLast) socket.pause();
    });
    socket.once("end", () => this.#noteOver());
    socket.once("close", () => {
      Connection.#waitingCount -= this.#waiting.length;
      this.#waiting.length = 0;
    });
  }

  /** Whether a request is in work. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the body of the request that came last has not arrived whole. */
  get isInBody(): boolean {
    return this.#newest !== undefined && !this.#newest.complete;
  }

  /**
   * Calls `begin` when the responses to the requests before are out. Until then, nothing more is read. If too many
   * requests wait, the connection is closed.
   */
  begin(response: ServerResponse, begin: () => void): void {
    this.#take({ response, begin });
  }

  /** The same, for what ends the connection: `begin` must end it. Later calls do nothing. */
  beginLast(begin: () => void): void {
    this.#take({ response: undefined, begin });
    this.#hasLast = true;
    this.#socket.pause();
    this.#noteOver();
  }

  /** For a socket from which Node has removed its own listener: the response in work may wait for room. */
  onDrain(): void {
    this.#current?.emit("drain");
  }

  #noteOver(): void {
    this.#isOver = true;
    this.onOver();
  }

  #take(request: Waiting): void {
    if (this.#hasLast || this.#isEnded) return;
    this.#newest = request.response?.req;
    if (this.#isBusy) this.#wait(request);
    else this.#begin(request);
  }

  /** Whether no response can be sent any more. A last response that is sent ends the socket, and is then flushed. */
  get #isEnded(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }

  #wait(request: Waiting): void {
    if (Connection.#waitingCount >= WAITING_LIMIT) {
      this.#socket.destroy();
      return;
    }
    Connection.#waitingCount++;
    this.#waiting.push(request);
    this.#socket.pause();
  }

  #begin({ response, begin }: Waiting): void {
    if (this.#isEnded) return;
    this.#isBusy = true;
    this.#current = response;
    response?.once("close", () => this.#beginNext());
    begin();
  }

  #beginNext(): void {
    if (this.#isEnded) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#isBusy = false;
      this.#current = undefined;
      if (this.#newest?.complete) this.#newest = undefined;
      if (this.isClosing) this.#socket.destroy();
      return;
    }
    Connection.#waitingCount--;
    // While another request waits, the body of this one has already arrived whole.
    const isNewest = this.#waiting.length === 0 && next.response !== undefined;
    if (isNewest) this.#socket.resume();
    // Between two requests of one connection, other connections have their turn.
    setImmediate(() => this.#begin(next));
  }
}
