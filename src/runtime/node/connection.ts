import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Ends } from "./http_request.ts";

/** Number of requests of all connections that may wait at a time. Each takes some 2 KB. */
const WAITING_LIMIT = 10_000;

/** A request that came while one before it had no response yet. */
interface Waiting {
  response: ServerResponse;
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
  #isBusy = false;
  /** Whether the connection is to be closed after the response to the request in work. */
  isClosing = false;

  constructor(socket: Socket) {
    // Both are unknown once the client is gone.
    this.clientAddress = socket.remoteAddress ?? "";
    this.localPort = socket.localPort ?? 0;
    this.#socket = socket;
    // Node resumes the socket after each response that is sent, also while requests wait.
    socket.on("resume", () => {
      if (this.#waiting.length > 0) socket.pause();
    });
    socket.once("close", () => {
      Connection.#waitingCount -= this.#waiting.length;
      this.#waiting.length = 0;
    });
  }

  /** Whether a request is in work. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /**
   * Calls `begin` when the responses to the requests before are out. Until then, nothing more is read. If too many
   * requests wait, the connection is closed.
   */
  begin(response: ServerResponse, begin: () => void): void {
    if (this.#socket.destroyed) return;
    if (this.#isBusy) this.#wait({ response, begin });
    else this.#begin({ response, begin });
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
    this.#isBusy = true;
    response.once("close", () => this.#beginNext());
    begin();
  }

  #beginNext(): void {
    if (this.#socket.destroyed) return;
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#isBusy = false;
      if (this.isClosing) this.#socket.destroy();
      return;
    }
    Connection.#waitingCount--;
    // While another request waits, the body of this one has already arrived whole.
    if (this.#waiting.length === 0) this.#socket.resume();
    // Between two requests of one connection, other connections have their turn.
    setImmediate(() => this.#begin(next));
  }
}
