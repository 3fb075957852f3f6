/** The operations of the interface, each compared with a bare server that returns the same bytes. */

import { type Measured, requestBytes, runLoad } from "./load.ts";
import { type ServerProcess, startBareServer } from "./server_process.ts";
import { printTable } from "./table.ts";
import { hasWrk, runWrk } from "./wrk.ts";

export interface Operation {
  name: string;
  connections: number;
  method: "GET" | "POST";
  /** `{id}` in it is replaced by a random pet id from 1 to `ids`. */
  path: string;
  ids?: number;
  headers?: Record<string, string>;
  body?: string;
}

const NEW_PET = '{"name":"Rex the dog","categoryId":12,"status":"available"}';

export const OPERATIONS: Operation[] = [
  { name: "read by id", connections: 64, method: "GET", path: "/v1/pets/4711" },
  { name: "list, 20", connections: 64, method: "GET", path: "/v1/pets" },
  {
    name: "list status, 100",
    connections: 64,
    method: "GET",
    path: "/v1/pets?status=available&limit=100",
  },
  {
    name: "list, unchanged",
    connections: 64,
    method: "GET",
    path: "/v1/pets",
    headers: { "if-none-match": "*" },
  },
  { name: "create, c=64", connections: 64, method: "POST", path: "/v1/pets", body: NEW_PET },
  { name: "create, c=256", connections: 256, method: "POST", path: "/v1/pets", body: NEW_PET },
  { name: "create, c=1", connections: 1, method: "POST", path: "/v1/pets", body: NEW_PET },
];

export interface HttpRow {
  name: string;
  service: Measured;
  bare: Measured;
  /** Requests per second, as a share of the bare server's. */
  ratio: number;
  /** Processor time per request of the bare server, as a share of the service's. */
  cpuRatio: number;
  failures: number;
}

export async function benchHttp(
  service: ServerProcess,
  token: string,
  ms: number,
): Promise<HttpRow[]> {
  const generator = await hasWrk() ? "wrk, one thread" : "the generator in load.ts";
  const rows: HttpRow[] = [];
  for (const operation of OPERATIONS) {
    const bareServer = await startBareServer(await exampleAnswer(service, token, operation));
    // The two take turns, so that other load on the machine affects both.
    const bare = await measure(bareServer, token, operation, ms);
    const own = await measure(service, token, operation, ms);
    await bareServer.stop();
    rows.push({
      name: operation.name,
      service: own,
      bare,
      ratio: own.perSecond / bare.perSecond,
      cpuRatio: bare.cpuUs / own.cpuUs,
      failures: own.failures + bare.failures,
    });
  }
  printTable(
    `Requests per second compared with a bare Deno.serve that returns the same bytes (load: ${generator})`,
    ["", "service/s", "bare/s", "ratio", "cpu ratio", "p50 ms", "p99 ms", "failures"],
    rows.map(({ name, service, bare, ratio, cpuRatio, failures }) => [
      name,
      service.perSecond,
      bare.perSecond,
      ratio,
      cpuRatio,
      service.p50Ms,
      service.p99Ms,
      failures,
    ]),
  );
  return rows;
}

/** Measures one operation for a time, after a warm-up of a quarter of it. */
export async function measure(
  server: ServerProcess,
  token: string,
  operation: Operation,
  ms: number,
): Promise<Measured & { cpuUs: number }> {
  await runOperation(server, token, operation, ms / 4);
  const cpuMs = server.cpuMs();
  const measured = await runOperation(server, token, operation, ms);
  return { ...measured, cpuUs: (server.cpuMs() - cpuMs) * 1_000 / measured.requests };
}

/** Runs one operation for a time. */
export async function runOperation(
  { port }: ServerProcess,
  token: string,
  { connections, method, path, ids, headers: own, body }: Operation,
  ms: number,
): Promise<Measured> {
  const headers = { ...headersOf(token, body), ...own };
  if (await hasWrk()) {
    return await runWrk({ port, connections, ms, method, path, ids, headers, body });
  }
  const bytes = requestBytes(method, path, headers, body);
  const next = ids === undefined ? () => bytes : () => {
    const id = 1 + Math.floor(Math.random() * ids);
    return requestBytes(method, path.replace("{id}", String(id)), headers, body);
  };
  return await runLoad({ port, connections, ms, next });
}

export function headersOf(token: string, body: string | undefined): Record<string, string> {
  const authorization = `Bearer ${token}`;
  return body === undefined
    ? { authorization }
    : { authorization, "content-type": "application/json" };
}

async function exampleAnswer(
  { port }: ServerProcess,
  token: string,
  { method, path, headers: own, body }: Operation,
) {
  const headers = { ...headersOf(token, body), ...own };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, body });
  const answered = Object.fromEntries(response.headers);
  // The server adds these itself.
  for (const name of ["content-length", "date"]) delete answered[name];
  return { status: response.status, headers: answered, body: await response.text() };
}
