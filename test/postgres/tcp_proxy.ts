/** A TCP proxy on loopback, for tests of what a network does between a client and its server. */
export interface TcpProxy extends AsyncDisposable {
  port: number;
}

/**
 * Starts a proxy. `portOf` is called for each connection, and `rewrite` changes what the server sends, whose bytes
 * it gets as Latin-1.
 */
export function startTcpProxy(
  portOf: () => number,
  rewrite: (text: string) => string = (text) => text,
): TcpProxy {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const connections = new Set<Deno.Conn>();
  const copy = async (from: Deno.Conn, to: Deno.Conn, change: typeof rewrite) => {
    const chunk = new Uint8Array(65_536);
    try {
      for (let length; (length = await from.read(chunk)) !== null;) {
        const text = change(String.fromCharCode(...chunk.subarray(0, length)));
        const bytes = Uint8Array.from(text, (character) => character.charCodeAt(0));
        for (let sent = 0; sent < bytes.length;) sent += await to.write(bytes.subarray(sent));
      }
    } catch {
      // One side is closed.
    }
    for (const connection of [from, to]) {
      if (connections.delete(connection)) connection.close();
    }
  };
  const serve = async () => {
    const copies: Promise<void>[] = [];
    for await (const client of listener) {
      const server = await Deno.connect({ hostname: "127.0.0.1", port: portOf() });
      connections.add(client).add(server);
      copies.push(copy(client, server, (text) => text), copy(server, client, rewrite));
    }
    await Promise.all(copies);
  };
  const served = serve();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const connection of connections) connection.close();
      connections.clear();
      await served;
    },
  };
}
