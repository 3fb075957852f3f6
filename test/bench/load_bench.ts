/** Loads of mixed operations, and an overload. */

import { headersOf } from "./http_bench.ts";
import { type Measured, requestBytes, runLoad } from "./load.ts";
import type { ServerProcess } from "./server_process.ts";
import { printTable } from "./table.ts";

export async function benchLoads(service: ServerProcess, token: string, ms: number) {
  const create = createBytes(token);
  const list = listBytes(token);
  const read = requestBytes("GET", "/v1/pets/4711", headersOf(token, undefined));
  const load = (connections: number, next: () => Uint8Array) =>
    runLoad({ port: service.port, connections, ms, next });

  const calm = await load(64, () => list);
  const mixed = await load(
    64,
    cycle([create, list, list, list, list, read, read, read, read, read]),
  );
  const [lists, creates] = await Promise.all([load(32, () => list), load(32, () => create)]);
  const overload = await load(1_000, cycle([create, list]));
  const after = await load(64, () => list);

  const rows: [string, Measured][] = [
    ["lists alone, c=64", calm],
    ["nine reads to one create, c=64", mixed],
    ["lists, c=32, during creates", lists],
    ["creates, c=32, during lists", creates],
    ["overload: lists and creates, c=1000", overload],
    ["lists alone again, c=64", after],
  ];
  printTable(
    "Mixed loads and overload",
    ["", "service/s", "p50 ms", "p99 ms", "not 2xx", "of them 503"],
    rows.map(([name, { perSecond, p50Ms, p99Ms, failures, statuses }]) => [
      name,
      perSecond,
      p50Ms,
      p99Ms,
      failures,
      statuses.get(503) ?? 0,
    ]),
  );
  return rows.map(([name, { statuses, ...measured }]) => ({
    name,
    ...measured,
    statuses: Object.fromEntries(statuses),
  }));
}

function createBytes(token: string): Uint8Array {
  const body = '{"name":"Rex the dog","categoryId":12,"status":"available"}';
  return requestBytes("POST", "/v1/pets", headersOf(token, body), body);
}

function listBytes(token: string): Uint8Array {
  return requestBytes("GET", "/v1/pets", headersOf(token, undefined));
}

function cycle(requests: Uint8Array[]): () => Uint8Array {
  let index = 0;
  return () => requests[index++ % requests.length];
}
