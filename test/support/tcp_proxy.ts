/**
 * A proxy on loopback, for tests of what a network does between a client and its server. At random, it closes a
 * connection after the server has executed a request and before the response goes back. It can also swallow
 * connections: they stay open without responses.
 */
export class TcpProxy implements AsyncDisposable {
  /** The share of responses, from 0 to 1, that are cut off. */
  share = 0;
  cuts = 0;
  #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly port = this.#listener.addr.port;
  #portOf: () => number;
  /** Connections are numbered as they come. Connections below this number are swallowed. */
  #swallowedBelow = 0;
  #connections = 0;
  #end = new AbortController();
  #served: Promise<unknown>;

  /** Calls `portOf` for each connection. */
  constructor(portOf: () => number) {
    this.#portOf = portOf;
    this.#served = this.#serve();
  }

  /** Swallows the current connections. New ones work. */
  swallow(): void {
    this.#swallowedBelow = this.#connections;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listener.close();
    this.#end.abort();
    await this.#served;
  }

  async #serve(): Promise<void> {
    const served: Promise<void>[] = [];
    for await (const client of this.#listener) served.push(this.#connect(client).catch(() => {}));
    await Promise.all(served);
  }

  async #connect(client: Deno.TcpConn): Promise<void> {
    using _client = client;
    using server = await Deno.connect({ hostname: "127.0.0.1", port: this.#portOf() });
    server.setNoDelay(true);
    client.setNoDelay(true);
    const { signal } = this.#end;
    // If one side ends or is cut, the other ends too.
    await Promise.race([
      client.readable.pipeTo(server.writable, { signal }),
      server.readable.pipeThrough(this.#responses()).pipeTo(client.writable, { signal }),
    ]);
  }

  #responses(): TransformStream<Uint8Array, Uint8Array> {
    const connection = this.#connections++;
    return new TransformStream({
      transform: (chunk, controller) => {
        if (connection < this.#swallowedBelow) return;
        if (Math.random() < this.share) {
          this.cuts++;
          return controller.error(new Error("cut"));
        }
        controller.enqueue(chunk);
      },
    });
  }
}
