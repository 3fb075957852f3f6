/**
 * A proxy between the service and its store that, by chance, closes a connection when the store has
 * answered and before the answer goes back: what was asked is done, and nobody hears of it. It can
 * swallow connections, too: they stay open, and nothing comes back on them any more.
 */
export class CuttingProxy implements Disposable {
  /** How often a connection was cut. */
  cuts = 0;
  /** The share of answers, from 0 to 1, that are cut off. */
  share: number;
  readonly address: string;
  #listener: Deno.TcpListener;
  #port: number;
  /** Connections are counted in the order in which they came; those below this one are swallowed. */
  #swallowedBelow = 0;
  #connections = 0;

  constructor(port: number, share: number) {
    this.#port = port;
    this.share = share;
    this.#listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    this.address = `http://127.0.0.1:${this.#listener.addr.port}`;
    this.#accept();
  }

  /** Swallows the connections that there are; new ones work. */
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
    // Whichever side ends, or is cut, ends the other.
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
