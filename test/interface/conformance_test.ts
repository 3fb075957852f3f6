/** The suite finds servers that break one clause each, and finds nothing broken on right ones. */

import { systemRuntime } from "eventstore-less/startup";
import { SECONDS, testNeeding } from "../support/test_needing.ts";
import { assert, assertEquals } from "@std/assert";
import { SqliteStore } from "../../src/eventstore_less/store/sqlite/sqlite_store.ts";
import { createService } from "../../src/service.ts";
import { fetchFrom } from "../support/fetch_from.ts";
import { Additions } from "./additions.ts";
import { clausesUpTo, judge, type Verdict } from "./conformance.ts";
import { contractServer } from "./contract_server.ts";
import { issueKeys } from "./target.ts";
import type { Listener } from "./tell.ts";
import { type Serve, WRONG_SERVERS } from "./wrong_servers.ts";

const BASE = "http://localhost/v1";

/** Some animals of others, with which a list is longer than its limits. */
const OTHERS = 40;

/** A right server in the process, on a store that has other animals. */
async function openServer() {
  const store = await SqliteStore.open(":memory:");
  const service = createService({ store, runtime: systemRuntime, report() {} });
  const serve: Serve = fetchFrom(service.handler);
  const keys = await issueKeys(service);
  const listener: Listener = {
    base: BASE,
    ...keys,
    has: ["a read-only key"],
    send: (input, init) => serve(new Request(input, init)),
  };
  return { service, store, serve, listener, [Symbol.dispose]: () => store.close() };
}

/** Adds animals of each status, and without one. */
async function addOthers({ base, key, send }: Listener, count: number): Promise<void> {
  const statuses = ["available", "pending", "sold", undefined];
  const operations = Array.from({ length: count }, (_, index) => {
    const body = { name: `Other ${index}`, categoryId: index % 7, status: statuses[index % 4] };
    return { action: "add", body };
  });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = JSON.stringify({ operations });
  const response = await send(`${base}/pets/batch`, { method: "POST", headers, body });
  assertEquals(response.status, 200, await response.text());
}

for (const { fault, breaks, wrong } of WRONG_SERVERS) {
  Deno.test(`the suite finds ${fault}`, async () => {
    using server = await openServer();
    await addOthers(server.listener, OTHERS);
    const serve = wrong(server.serve, server.listener.key);
    const listener: Listener = {
      ...server.listener,
      send: (input, init) => serve(new Request(input, init)),
    };
    const clauses = clausesUpTo(2).filter(({ name }) => name === breaks);
    const { verdicts } = await judge(listener, { clauses });
    assertEquals(verdicts.map(({ clause, verdict }) => [clause, verdict]), [[breaks, "broken"]]);
  });
}

Deno.test("a server of the contract alone holds all of level 1, and what it cannot remove is listed", async () => {
  const key = "secret";
  const serve = contractServer(key);
  const listener: Listener = {
    base: BASE,
    key,
    has: ["an empty store", "a store that nobody else changes"],
    send: (input, init) => serve(new Request(input, init)),
  };
  const clauses = clausesUpTo(1);
  const { verdicts, left } = await judge(listener, { clauses });
  assertEquals(notHeld(verdicts), []);
  assertEquals(verdicts.length, clauses.length);
  assert(left.length > 10 && left.every((path) => /^\/pets\/\d+$/.test(path)), left.join());
  assertEquals(new Set(left).size, left.length);
});

/** The animals and categories of a store, as its clients see them. */
async function shown({ base, key, send }: Listener): Promise<unknown[]> {
  const read = async (path: string) => {
    const response = await send(base + path, { headers: { authorization: `Bearer ${key}` } });
    return { text: await response.text(), link: response.headers.get("link") ?? "" };
  };
  const texts: string[] = [];
  let path: string | undefined = "/pets?limit=100";
  while (path !== undefined) {
    const { text, link } = await read(path);
    texts.push(text);
    path = /\/v1(\/[^>]+)>; rel="next"/.exec(link)?.[1];
  }
  const categories = await read("/categories");
  return [texts.flatMap((text) => JSON.parse(text)), JSON.parse(categories.text)];
}

/** Adds an animal, changes it and removes it, again and again. */
async function writeMeanwhile({ base, key, send }: Listener, end: AbortSignal): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const write = (method: string, path: string, body?: string) =>
    send(base + path, { method, headers, body });
  let rounds = 0;
  for (; !end.aborted; rounds++) {
    const added = await write("POST", "/pets", '{"name":"Other","categoryId":7,"status":"sold"}');
    const { id } = await added.json();
    await write("PATCH", `/pets/${id}`, '{"status":"available","name":"Another"}');
    await write("DELETE", `/pets/${id}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return rounds;
}

testNeeding(SECONDS)(
  "a right server with many animals and another writer holds all that can be tried, and has what it had",
  async () => {
    using server = await openServer();
    const { listener } = server;
    const { key } = listener;
    for (let round = 0; round < 3; round++) await addOthers(listener, 84);
    for (const [id, name] of [["1", "Dogs"], ["2", "Cats"]]) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
      const body = JSON.stringify({ name });
      await listener.send(`${BASE}/categories/${id}`, { method: "PUT", headers, body });
    }
    const before = await shown(listener);
    const end = new AbortController();
    const writing = writeMeanwhile(listener, end.signal);
    const { verdicts, left } = await judge(listener, { clauses: clausesUpTo(2) });
    end.abort();
    assert(await writing > 50, `${await writing}`);
    const others = notHeld(verdicts).filter(({ reason }) => !reason?.startsWith("It needs "));
    assertEquals([others, left], [[], []]);
    assertEquals(await shown(listener), before);
  },
);

Deno.test("after a lost response, nothing of others is removed, also if the service ignores the filter by category", async () => {
  using server = await openServer();
  const { listener } = server;
  await addOthers(listener, OTHERS);
  const before = await shown(listener);
  const additions = new Additions({
    ...listener,
    async send(input, init) {
      const response = await listener.send(String(input).replace(/&categoryId=.*/, ""), init);
      return init?.method === "POST" ? new Response(null, { status: 500 }) : response;
    },
  });
  const headers = { authorization: `Bearer ${listener.key}`, "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":123456789012345678}';
  await additions.listener.send(`${BASE}/pets`, { method: "POST", headers, body });
  assertEquals(await additions.remove(), []);
  assertEquals(await shown(listener), before);
});

function notHeld(verdicts: readonly Verdict[]) {
  return verdicts.filter(({ verdict }) => verdict !== "held") as { reason?: string }[];
}
