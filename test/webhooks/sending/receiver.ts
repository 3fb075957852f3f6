import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { Random } from "../../sim/random.ts";

/** What a receiver does with a connection, and with the first packet of a request, after TLS. */
export interface Behaviour {
  onConnection?: (socket: Socket) => void;
  onRequest?: (socket: Socket) => void;
}

/** A server of a test, for raw bytes. It notes the address at which each connection came, and what it got. */
export class Receiver implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly addresses: string[] = [];
  /** The names that TLS connections asked for; empty without one. */
  readonly names: string[] = [];
  /** The bytes of all connections as text, without TLS. */
  received = "";

  private constructor(server: Server, behaviour: Behaviour, event: string) {
    this.#server = server;
    server.on("connection", (socket: Socket) => {
      this.addresses.push(socket.localAddress ?? "");
      this.#sockets.add(socket);
      socket.on("error", () => {});
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("tlsClientError", () => {});
    server.on("secureConnection", ({ servername }: { servername?: string | false | null }) => {
      this.names.push(servername || "");
    });
    server.on(event, (socket: Socket) => {
      socket.on("error", () => {});
      socket.on("data", (chunk: Buffer) => this.received += chunk.toString());
      behaviour.onConnection?.(socket);
      socket.once("data", () => behaviour.onRequest?.(socket));
    });
  }

  /** Starts one on all IPv4 addresses of this machine, with TLS if it has a certificate. */
  static async start(
    behaviour: Behaviour,
    tls?: { key: string; cert: string; ALPNProtocols?: string[] },
  ): Promise<Receiver> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    const event = tls === undefined ? "connection" : "secureConnection";
    const receiver = new Receiver(server, behaviour, event);
    server.listen(0, "0.0.0.0");
    await once(server, "listening");
    return receiver;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Resolves when no connection is open. */
  async closed(): Promise<void> {
    for (const socket of this.#sockets) {
      const isOver = new Promise((resolve) => socket.once("close", resolve));
      // A paused one would not notice it.
      socket.resume();
      await isOver;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Responds to each request with a text. */
export function responding(text: string): Behaviour {
  return { onRequest: (socket) => socket.write(text) };
}

/** Sends a begin, and then a piece again and again as fast as the other side reads. */
export function flooding(begin: string, piece: string): Behaviour {
  const packet = piece.repeat(Math.ceil(64 * 1024 / piece.length));
  return {
    onRequest: (socket) => {
      const write = () => {
        while (!socket.destroyed && socket.write(packet));
      };
      socket.on("drain", write);
      socket.write(begin);
      write();
    },
  };
}

/** Sends a begin, and then one byte of a text each so many milliseconds. */
export function dripping(begin: string, text: string, ms: number): Behaviour {
  return {
    onRequest: (socket) => {
      socket.write(begin);
      let count = 0;
      const timer = setInterval(() => socket.write(text[count++ % text.length]), ms);
      socket.once("close", () => clearInterval(timer));
    },
  };
}

/** Parts of responses, right and wrong. */
const PARTS = [
  ...[
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 500 Error\r\n",
    "HTTP/1.0 302 Found\r\n",
    "HTTP/1.1 0 A\r\n",
  ],
  ...["HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 101 Switch\r\n", "HTTP/1.1 999 Odd\r\n"],
  ...[
    "content-length: 5\r\n",
    "content-length: -1\r\n",
    "content-length: 99999999999999999999\r\n",
  ],
  ...["transfer-encoding: chunked\r\n", "transfer-encoding: gzip, chunked\r\n", "trailer: a\r\n"],
  ...["connection: upgrade\r\nupgrade: h2c\r\n", "connection: keep-alive\r\n", "expect: 100\r\n"],
  ...[
    "retry-after: Wed, 99 Foo 2999\r\n",
    "x: \u{e9}\0\r\n",
    "x: y\n",
    `x: ${"y".repeat(20_000)}\r\n`,
  ],
  ...["\r\n", "\r\n\r\n", "0\r\n\r\n", "5\r\nhello\r\n", "ffffffffffffffff\r\n", "hello", "\0"],
];

/** Sends some of these parts as a seed says, at once or one after the other, and then ends, or not. */
export function oddly(seed: number): Behaviour {
  const random = new Random(seed);
  const parts = Array.from({ length: random.integer(0, 8) }, () => random.pick(PARTS));
  if (random.chance(0.5)) parts.unshift(random.pick(PARTS));
  const pausesMs = parts.map(() => random.chance(0.5) ? 0 : random.integer(1, 5));
  const end = random.pick(["destroy", "end", "resetAndDestroy", undefined] as const);
  const onConnection = async (socket: Socket) => {
    for (const [index, part] of parts.entries()) {
      const ms = pausesMs[index];
      if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
      if (!socket.destroyed) socket.write(part, "latin1");
    }
    if (end !== undefined) socket[end]();
  };
  return { onConnection };
}
