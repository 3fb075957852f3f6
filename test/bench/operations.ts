/** The requests under measurement. */

import { PET_STATUSES } from "../../events/pet.ts";
import { buildDisk } from "../support/disk.ts";
import { type Measured, requestBytes, runLoad } from "./load.ts";
import type { ServerProcess } from "./processes.ts";

interface Request {
  connections: number;
  method: "GET" | "POST" | "PATCH";
  /** `{id}` in it is replaced by a random pet id, of the first `ids` ones. */
  path: string;
  ids?: number;
  headers?: Record<string, string>;
  /** `{number}` and `{status}` in it are other ones in each request. */
  body?: string;
  /** How long a connection waits after a response. */
  pauseMs?: number;
}

export interface Operation extends Request {
  name: string;
  /** Requests at the same time, which are not counted. */
  beside?: Request;
  /** How much longer each fsync takes. */
  fsyncDelayMs?: number;
}

const GET = { connections: 64, method: "GET" } as const;
const POST = {
  method: "POST",
  path: "/v1/pets",
  body: '{"name":"Rex the dog","categoryId":12,"status":"available"}',
} as const;
const PATCH = {
  method: "PATCH",
  path: "/v1/pets/{id}",
  ids: Infinity,
  body: '{"name":"Rex {number}","status":"{status}"}',
} as const;
const READ = { ...GET, path: "/v1/pets/{id}", ids: 500 };
/** They read the events of a store from the beginning again and again, and want none of them. */
const CATCHING_UP = { ...GET, connections: 10, path: "/v1/events?type=PetUpdated" };
const BESIDE_WRITERS = { ...READ, beside: { ...POST, connections: 8 } };

/** Reads come first, because creates and changes make the store another one. */
export const OPERATIONS: Operation[] = [
  { ...READ, name: "read by id, 500 at random" },
  { ...READ, name: "read by id, all at random", ids: Infinity },
  { ...GET, name: "list, 20", path: "/v1/pets" },
  { ...GET, name: "list status, 100", path: "/v1/pets?status=available&limit=100" },
  {
    ...GET,
    name: "list status, 100, from any pet on, c=1",
    connections: 1,
    path: "/v1/pets?status=available&limit=100&cursor={id}",
    ids: Infinity,
  },
  { ...GET, name: "list ids, 10", path: "/v1/pets?ids={id},1,2,3,4,5,6,7,8,9", ids: Infinity },
  {
    ...GET,
    name: "list category, 100, from any pet on, c=1",
    connections: 1,
    path: "/v1/pets?categoryId=12&limit=100&cursor={id}",
    ids: Infinity,
  },
  {
    ...GET,
    name: "search that finds nothing, c=1",
    connections: 1,
    path: "/v1/pets?name=z{id}",
    ids: Infinity,
  },
  { ...GET, name: "list, unchanged", path: "/v1/pets", headers: { "if-none-match": "*" } },
  { ...BESIDE_WRITERS, name: "read by id beside 8 writers" },
  { ...BESIDE_WRITERS, name: "read by id beside 8 writers, fsync + 5 ms", fsyncDelayMs: 5 },
  { ...READ, name: "read by id beside 10 that catch up, c=1", connections: 1, beside: CATCHING_UP },
  { ...POST, name: "create beside 10 that catch up, c=1", connections: 1, beside: CATCHING_UP },
  {
    ...GET,
    name: "list status, 100, beside 100 changes per second",
    path: "/v1/pets?status=available&limit=100",
    beside: { ...PATCH, connections: 1, pauseMs: 9 },
  },
  { ...PATCH, name: "change, c=64", connections: 64 },
  { ...PATCH, name: "change, c=64, 8 pets", connections: 64, ids: 8 },
  { ...PATCH, name: "change, c=1", connections: 1 },
  { ...POST, name: "create, c=64", connections: 64 },
  { ...POST, name: "create, c=256", connections: 256 },
  { ...POST, name: "create, c=1000", connections: 1_000 },
  { ...POST, name: "create, c=1", connections: 1 },
];

/** Measures an operation for a time, after a warm-up of a quarter of it. */
export async function measure(
  server: ServerProcess,
  token: string,
  operation: Operation,
  ms: number,
  pets: number,
): Promise<Measured & { cpuUs: number }> {
  const run = async (ms: number) => {
    const both = operation.beside === undefined ? [operation] : [operation, operation.beside];
    const [measured] = await Promise.all(
      both.map(({ connections, ids = 1, pauseMs, ...request }) => {
        const bytes = (id: number) =>
          requestBytes({
            ...request,
            path: request.path.replace("{id}", String(id)),
            body: bodyOf(request),
            headers: headersOf(token, request),
          });
        const first = bytes(1);
        const limit = Math.min(ids, pets);
        const next = limit === 1 ? () => first : () => bytes(1 + Math.floor(Math.random() * limit));
        return runLoad({ port: server.port, connections, ms, next, pauseMs });
      }),
    );
    return measured;
  };
  await run(ms / 4);
  const cpuMs = server.cpuMs();
  const measured = await run(ms);
  return { ...measured, cpuUs: (server.cpuMs() - cpuMs) * 1_000 / measured.requests };
}

let bodies = 0;

function bodyOf({ body }: Pick<Request, "body">): string | undefined {
  const number = bodies++;
  const status = PET_STATUSES[number % PET_STATUSES.length];
  return body?.replace("{number}", String(number)).replace("{status}", status);
}

function headersOf(token: string, { body, headers }: Pick<Request, "body" | "headers">) {
  const type: Record<string, string> = body === undefined
    ? {}
    : { "content-type": "application/json" };
  return { authorization: `Bearer ${token}`, ...type, ...headers };
}

/** Compiles a library that delays fsync(), and returns the variables that load it. */
export async function slowDisk(
  { fsyncDelayMs }: Operation,
  folder: string,
): Promise<Record<string, string>> {
  if (fsyncDelayMs === undefined) return {};
  return { ...await buildDisk(folder), FSYNC_DELAY_US: `${fsyncDelayMs * 1_000}` };
}
