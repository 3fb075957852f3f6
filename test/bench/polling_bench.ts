/** Clients that poll the first page with `If-None-Match` while nothing changes. */

import { headersOf } from "./http_bench.ts";
import { quantile, requestBytes, writeAll } from "./load.ts";
import type { ServerProcess } from "./server_process.ts";
import { printTable } from "./table.ts";

const CLIENTS = 1_000;
const INTERVAL_MS = 1_000;

const HEAD_END = [13, 10, 13, 10];

export async function benchPolling(service: ServerProcess, token: string, ms: number) {
  const { port } = service;
  const headers = headersOf(token, undefined);
  const first = await fetch(`http://127.0.0.1:${port}/v1/pets`, { headers });
  await first.body?.cancel();
  const request = requestBytes("GET", "/v1/pets", {
    ...headers,
    "if-none-match": first.headers.get("etag")!,
  });
  const sockets = await Promise.all(
    Array.from({ length: CLIENTS }, () => Deno.connect({ hostname: "127.0.0.1", port })),
  );
  const latencies: number[] = [];
  let failures = 0;
  const start = performance.now();
  const startCpuMs = service.cpuMs();
  await Promise.all(sockets.map(async (socket, index) => {
    const buffer = new Uint8Array(4_096);
    try {
      // The clients do not poll at the same moment.
      const firstAt = start + index * INTERVAL_MS / CLIENTS;
      for (let at = firstAt; at < start + ms; at += INTERVAL_MS) {
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, at - performance.now())));
        const sentAt = performance.now();
        await writeAll(socket, request);
        if (await statusOf(socket, buffer) === 304) latencies.push(performance.now() - sentAt);
        else failures++;
      }
    } catch {
      failures++;
    } finally {
      socket.close();
    }
  }));
  const elapsedMs = performance.now() - start;
  const cpuMs = service.cpuMs() - startCpuMs;
  const sorted = Float64Array.from(latencies).sort();
  const measured = {
    perSecond: sorted.length / elapsedMs * 1_000,
    /** Processor time, as a share of one processor. */
    share: cpuMs / elapsedMs,
    cpuUs: cpuMs * 1_000 / sorted.length,
    p50Ms: quantile(sorted, 0.5),
    p99Ms: quantile(sorted, 0.99),
    failures,
  };
  printTable(
    `${CLIENTS} clients that poll an unchanged first page every second`,
    ["304s/s", "share of a processor", "cpu us", "p50 ms", "p99 ms", "not 304"],
    [Object.values(measured)],
  );
  return measured;
}

/** Reads one response without a body. */
async function statusOf(socket: Deno.Conn, buffer: Uint8Array): Promise<number> {
  for (let length = 0;;) {
    const read = await socket.read(buffer.subarray(length));
    if (read === null || read === 0) throw new Error("The connection was closed");
    length += read;
    const isWhole = HEAD_END.every((byte, index) => buffer[length - 4 + index] === byte);
    if (isWhole) return Number(new TextDecoder().decode(buffer.subarray(9, 12)));
  }
}
