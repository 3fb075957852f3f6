/**
 * Measures the feed on loopback: how late events are, what open streams cost, and how fast one client reads the log.
 *
 *     deno run --allow-all test/bench/feed.ts [EVENTS]
 */

import { setTimeout as sleep } from "node:timers/promises";
import { issueKey } from "../../src/commands/issue_key.ts";
import { FOLLOWERS_LIMIT, FOLLOWERS_OF_KEY_LIMIT } from "../../src/http/limits/followers.ts";
import { TempStore } from "../support/temp_store.ts";
import { quantile, requestBytes } from "./load.ts";
import {
  fillByCheckout,
  ROOT,
  type ServerProcess,
  startBareServer,
  startService,
} from "./processes.ts";

/** Pets that are added per second, and streams that wait for them. */
const ADDED_PER_SECOND = 100;
const FOLLOWING = 100;
const SECONDS = 10;

const events = Number(Deno.args[0] ?? 1_000_000);

await using temp = await TempStore.make();
await measureDelays();
await measureMemory();
await measureReading();

/** How long after its 201 an event arrives, on the instance that appended it and on another one. */
async function measureDelays(): Promise<void> {
  const token = await temp.issueKey();
  await using one = await startService(temp.kvPath, ROOT, {});
  await using two = await startService(temp.kvPath, ROOT, {});
  for (const [name, followed] of [["the same instance", one], ["another instance", two]] as const) {
    const arrivals = new Map<string, number[]>();
    using _following = await openAll(followed.port, Array(FOLLOWING).fill(token), "now", (text) => {
      const now = performance.now();
      for (const [, subject] of text.matchAll(/"subject":"(pets\/\d+)"/g)) {
        arrivals.getOrInsertComputed(subject, () => []).push(now);
      }
    });
    await sleep(500);
    const acknowledged = await addPets(one, token);
    await sleep(1_000);
    const delays = [...acknowledged].flatMap(([subject, at]) =>
      (arrivals.get(subject) ?? []).map((arrival) => Math.max(0, arrival - at))
    );
    const sorted = Float64Array.from(delays).sort();
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(sorted, share).toFixed(1));
    const missing = acknowledged.size * FOLLOWING - delays.length;
    console.log(
      `From the 201 to the event on ${name}: p50 ${p50} ms, p99 ${p99} ms ` +
        `(${acknowledged.size} additions, ${FOLLOWING} streams, ${missing} missing)`,
    );
  }
}

/** Adds pets at the rate, and resolves to the times of the 201s by subject. */
async function addPets({ port }: ServerProcess, token: string): Promise<Map<string, number>> {
  const acknowledged = new Map<string, number>();
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = '{"name":"Rex","categoryId":7}';
  const adding = [];
  const start = performance.now();
  for (let count = 0; count < SECONDS * ADDED_PER_SECOND; count++) {
    await sleep(Math.max(0, start + count * 1_000 / ADDED_PER_SECOND - performance.now()));
    const added = fetch(`http://127.0.0.1:${port}/v1/pets`, { method: "POST", headers, body });
    adding.push(added.then(async (response) => {
      const at = performance.now();
      acknowledged.set(`pets/${(await response.json()).id}`, at);
    }));
  }
  await Promise.all(adding);
  return acknowledged;
}

/** The memory of open streams and of idle connections, here and of a bare Deno.serve. */
async function measureMemory(): Promise<void> {
  const tokens = await temp.use(async (service) => {
    const keys = FOLLOWERS_LIMIT / FOLLOWERS_OF_KEY_LIMIT;
    const issued = Array.from({ length: keys }, () => issueKey(service, { label: "bench" }));
    return (await Promise.all(issued)).map(({ token }) => token);
  });
  const all = Array.from({ length: FOLLOWERS_LIMIT }, (_, index) => tokens[index % tokens.length]);
  await using own = await startService(temp.kvPath, ROOT, {});
  await using bare = await startBareServer({ status: 200, isStream: true });
  await using idle = await startService(temp.kvPath, ROOT, {});
  const cases: [name: string, server: ServerProcess, lastEventId?: string][] = [
    ["an open stream", own, "now"],
    ["an open stream of a bare Deno.serve", bare, "now"],
    ["an idle connection", idle],
  ];
  for (const [name, server, lastEventId] of cases) {
    // What the first requests load is not counted.
    using _first = await openAll(server.port, all.slice(0, 20), lastEventId);
    await sleep(1_000);
    const before = server.memoryMiB("now");
    using _rest = await openAll(server.port, all.slice(20), lastEventId);
    await sleep(2_000);
    const kib = (server.memoryMiB("now") - before) * 1_024 / (FOLLOWERS_LIMIT - 20);
    console.log(`Memory of ${name}: ${kib.toFixed(1)} KiB (${FOLLOWERS_LIMIT} of them)`);
  }
}

/** One client reads all events from the beginning, in batches of 1,000. */
async function measureReading(): Promise<void> {
  const kvPath = `${temp.folder}/million.sqlite3`;
  const token = await fillByCheckout(ROOT, kvPath, events);
  await using server = await startService(kvPath, ROOT, {});
  const headers = { authorization: `Bearer ${token}` };
  let read = 0;
  const [start, cpuMs] = [performance.now(), server.cpuMs()];
  for (let url = `http://127.0.0.1:${server.port}/v1/events?limit=1000`;;) {
    const response = await fetch(url, { headers });
    const count = (await response.text()).split('"specversion"').length - 1;
    if (count === 0) break;
    read += count;
    url = /^<(.+)>; rel="next"$/.exec(response.headers.get("link")!)![1];
  }
  const rate = read / (performance.now() - start) * 1_000;
  const cpuUs = (server.cpuMs() - cpuMs) * 1_000 / read;
  console.log(
    `One client read ${read} of ${events} events: ${Math.round(rate)} per second, ` +
      `${cpuUs.toFixed(1)} µs of processor time each; peak ${Math.round(server.memoryMiB())} MiB`,
  );
}

/** Opens a stream, or an idle connection, for each token. `take` gets all that arrives later. */
async function openAll(
  port: number,
  tokens: string[],
  lastEventId: string | undefined,
  take: (text: string) => void = () => {},
): Promise<Disposable> {
  const sockets: Deno.Conn[] = [];
  for (const token of tokens) {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    sockets.push(socket);
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    const path = lastEventId === undefined ? "/readyz" : `/v1/events?lastEventId=${lastEventId}`;
    await socket.write(requestBytes({ method: "GET", path, headers }));
    const buffer = new Uint8Array(lastEventId === "now" ? 16 * 1_024 : 1_024);
    const decoder = new TextDecoder();
    let text = "";
    // The head of the response and the first chunk.
    while (!text.includes("\r\n\r\n")) {
      text += decoder.decode(buffer.subarray(0, await socket.read(buffer) ?? 0));
    }
    if (!text.startsWith("HTTP/1.1 200 ")) throw new Error(text);
    (async () => {
      for (let length; (length = await socket.read(buffer)) !== null;) {
        take(decoder.decode(buffer.subarray(0, length)));
      }
    })().catch(() => {});
  }
  return { [Symbol.dispose]: () => sockets.forEach((socket) => socket.close()) };
}
