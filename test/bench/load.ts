/**
 * A load generator for measurements: a number of connections, each with one request in flight, for a time. It
 * writes prepared bytes and parses only the head of a response, so that it costs less than the service. The
 * tests use LoadClient, which checks every response.
 */

/** The measurements. Latencies are in milliseconds. */
export interface Measured {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Number of errors, and of broken connections. */
  failures: number;
}

export interface Load {
  port: number;
  connections: number;
  ms: number;
  /** The bytes of the next request. */
  next: () => Uint8Array;
  /** How long a connection waits after a response. */
  pauseMs?: number;
}

/** Runs a load on loopback. */
export async function runLoad(
  { port, connections, ms, next, pauseMs = 0 }: Load,
): Promise<Measured> {
  const latencies: number[] = [];
  let failures = 0;
  const sockets = await Promise.all(
    Array.from({ length: connections }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  const start = performance.now();
  const end = start + ms;
  await Promise.all(sockets.map(async (socket) => {
    socket.setNoDelay(true);
    const responses = new ResponseReader(socket);
    try {
      for (let now = performance.now(); now < end; now = performance.now()) {
        await writeAll(socket, next());
        const status = await responses.next();
        latencies.push(performance.now() - now);
        if (status >= 400) failures++;
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
      }
    } catch {
      failures++;
    } finally {
      socket.close();
    }
  }));
  const seconds = (performance.now() - start) / 1_000;
  const sorted = Float64Array.from(latencies).sort();
  return {
    requests: sorted.length,
    perSecond: sorted.length / seconds,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    failures,
  };
}

/** The bytes of a request on a persistent connection. */
export function requestBytes({ method, path, headers, body = "" }: {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}): Uint8Array {
  const length = new TextEncoder().encode(body).length;
  const all = { host: "localhost", ...headers, "content-length": String(length) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  const head = `${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`;
  return new TextEncoder().encode(head + body);
}

function quantile(sorted: Float64Array, share: number): number {
  return sorted.length === 0 ? NaN : sorted[Math.floor(share * (sorted.length - 1))];
}

async function writeAll(socket: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += await socket.write(bytes.subarray(offset));
  }
}

const HEAD_END = "\r\n\r\n";

/** Reads responses with a Content-Length from a connection, one by one. */
class ResponseReader {
  #socket: Deno.Conn;
  #buffer = new Uint8Array(64 * 1024);
  #decoder = new TextDecoder("latin1");

  constructor(socket: Deno.Conn) {
    this.#socket = socket;
  }

  /** Resolves to the status of the next response when all of it has arrived. */
  async next(): Promise<number> {
    let length = 0;
    for (let wanted = Infinity; length < wanted;) {
      const read = await this.#socket.read(this.#buffer.subarray(length));
      if (read === null) throw new Error("The connection was closed");
      length += read;
      if (wanted < Infinity) continue;
      const text = this.#decoder.decode(this.#buffer.subarray(0, Math.min(length, 2_048)));
      const headEnd = text.indexOf(HEAD_END);
      if (headEnd === -1) continue;
      const declared = text.indexOf("content-length: ");
      wanted = headEnd + HEAD_END.length + parseInt(text.slice(declared + 16, declared + 24), 10);
    }
    return (this.#buffer[9] - 48) * 100 + (this.#buffer[10] - 48) * 10 + (this.#buffer[11] - 48);
  }
}
