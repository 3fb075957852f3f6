import { Buffer } from "node:buffer";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** Parts of a message (RFC 1035). */
const HEADER_BYTES = 12;
const TYPE_A = 1;
const NO_SUCH_NAME = 3;

/** A DNS server of a test. It knows one IPv4 address of each name, and is silent if that is `null`. */
export class DnsServer implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #addresses: Record<string, string | null>;
  /** The names that were asked for. */
  readonly asked = new Set<string>();

  private constructor(socket: Socket, addresses: Record<string, string | null>) {
    this.#socket = socket;
    this.#addresses = addresses;
    socket.on("message", (query, { port, address }) => {
      const response = this.#respond(query);
      if (response !== undefined) socket.send(response, port, address);
    });
  }

  static async start(addresses: Record<string, string | null>): Promise<DnsServer> {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new DnsServer(socket, addresses);
  }

  get address(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  #respond(query: Buffer): Buffer | undefined {
    const labels = [];
    let offset = HEADER_BYTES;
    while (query[offset] > 0) {
      const end = offset + 1 + query[offset];
      labels.push(query.toString("latin1", offset + 1, end));
      offset = end;
    }
    const name = labels.join(".");
    this.asked.add(name);
    const address = this.#addresses[name];
    if (address === null) return undefined;
    const type = query.readUInt16BE(offset + 1);
    const isKnown = address !== undefined && type === TYPE_A;
    const code = address === undefined ? NO_SUCH_NAME : 0;
    const header = [query[0], query[1], 0x81, 0x80 + code, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0];
    const question = query.subarray(HEADER_BYTES, offset + 5);
    // The name of the question, its type, its class, a time to live of one second, and the address.
    const answer = isKnown
      ? [0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split(".").map(Number)]
      : [];
    return Buffer.concat([Buffer.from(header), question, Buffer.from(answer)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(resolve));
  }
}
