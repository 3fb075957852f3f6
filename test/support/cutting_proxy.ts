/**
 * A proxy between the service and its store. At random, it closes a connection after the store has executed a
 * request and before the response goes back. It can also swallow connections: they stay open without
 * responses.
 */
export class CuttingProxy implements Disposable {
  /** Number of cut connections. */
  cuts = 0;
  /** The share of responses, from 0 to 1, that are cut off. */
  share: number;
  #listener: Deno.TcpListener;
  #port: number;
  /** Connections are numbered as they come. Those below this number are swallowed. */
  #swallowedBelow = 0;
  #connections = 0;

  constructor(port: number, share: number) {
    this.#port = port;
    this.share = share;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.#accept();
  }

  /** The port on which it listens. */
  get port(): number {
    return this.#listener.addr.port;
  }

  /** Swallows the current connections. New ones work. */
  swallow(): void {
    this.#swallowedBelow = this.#connections;
  }

  [Symbol.dispose](): void {
    this.#listener.close();
  }

  async #accept(): Promise<void> {
    for await (const client of this.#listener) this.#connect(client).catch(() => {});
  }

  async #connect(client: Deno.TcpConn): Promise<void> {
    using _client = client;
    using store = await Deno.connect({ hostname: "127.0.0.1", port: this.#port });
    store.setNoDelay(true);
    client.setNoDelay(true);
    // If one side ends or is cut, the other ends too.
    await Promise.race([
      client.readable.pipeTo(store.writable),
      store.readable.pipeThrough(this.#cutter()).pipeTo(client.writable),
    ]);
  }

  #cutter(): TransformStream<Uint8Array, Uint8Array> {
    const connection = this.#connections++;
    return new TransformStream({
      transform: (chunk, controller) => {
        if (connection < this.#swallowedBelow) return;
        if (Math.random() < this.share) {
          this.cuts++;
          controller.error(new Error("cut"));
        } else controller.enqueue(chunk);
      },
    });
  }
}
