/**
 * Another implementation of the contract, and of nothing else: three operations, in memory, without pages. It shows that
 * the clauses of level 1 ask for no more.
 */

import type { Serve } from "./wrong_servers.ts";

const STATUSES = [undefined, "available", "pending", "sold"];
const INT64 = { min: -(2n ** 63n), max: 2n ** 63n - 1n };

/** An animal as text, and its status, by which lists are filtered. */
interface Kept {
  text: string;
  status?: string;
}

export function contractServer(key: string): Serve {
  const animals = new Map<string, Kept>();
  return async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    const [, collection, id] = /^\/v1\/(\w+)(?:\/(-?\d+))?$/.exec(pathname) ?? [];
    const field = request.headers.get("authorization");
    if (field !== `Bearer ${key}`) return error(401, "Who are you?");
    if (collection !== "pets") return error(404, "Nothing is there");
    if (id !== undefined) return found(animals.get(id));
    return request.method === "POST"
      ? add(await request.text(), animals)
      : list(searchParams, animals);
  };
}

/** The oldest animals come first. */
function list(query: URLSearchParams, animals: Map<string, Kept>): Response {
  const limit = Number(query.get("limit") ?? 20);
  const status = query.get("status");
  const kept = [...animals.values()].filter((it) => status === null || it.status === status);
  return json(200, `[${kept.slice(0, limit).map(({ text }) => text).join()}]`);
}

function found(kept: Kept | undefined): Response {
  return kept === undefined ? error(404, "No such animal") : json(200, kept.text);
}

function add(body: string, animals: Map<string, Kept>): Response {
  const { name, categoryId, status } = parsed(body);
  const isInteger = typeof categoryId === "bigint";
  const isInt64 = isInteger && categoryId >= INT64.min && categoryId <= INT64.max;
  if (typeof name !== "string" || !isInt64) return error(400, "name and categoryId are needed");
  if (!STATUSES.includes(status)) return error(400, "The status is not known");
  // Ids need not be in a row.
  const id = String((animals.size + 1) * 17);
  const shownStatus = status === undefined ? "" : `"status":"${status}",`;
  const text = `{${shownStatus}"categoryId":${categoryId},"name":${
    JSON.stringify(name)
  },"id":${id}}`;
  animals.set(id, { text, status });
  return json(201, text);
}

/** Integers are exact. */
const integersAsBigInts = (_: string, value: unknown, { source }: { source: string }) =>
  typeof value === "number" && /^-?\d+$/.test(source) ? BigInt(source) : value;

// deno-lint-ignore no-explicit-any -- it may be anything that a client has sent
function parsed(body: string): any {
  try {
    return JSON.parse(body, integersAsBigInts as (key: string, value: unknown) => unknown) ?? {};
  } catch {
    return {};
  }
}

function error(status: number, message: string): Response {
  return json(status, JSON.stringify({ status, message, code: `E${status}`, help: "none" }));
}

function json(status: number, body: string): Response {
  const headers = { "content-type": "application/json; charset=utf-8" };
  return new Response(body, { status, headers });
}
