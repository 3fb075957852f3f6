/**
 * Measures the feed on loopback: how late events are, what open streams cost, and how long requests take while others
 * catch up.
 *
 *     deno run --allow-all test/bench/feed.ts
 */

import { setTimeout as sleep } from "node:timers/promises";
import { issueKey } from "../../src/keys/write_key.ts";
import { FOLLOWERS_LIMIT, FOLLOWERS_OF_KEY_LIMIT } from "../../src/feed/followers.ts";
import { TempStore } from "../support/temp_store.ts";
import { quantile, requestBytes, runLoad } from "./load.ts";
import { fillByCheckout, ROOT, type ServerProcess, startService } from "./processes.ts";

/** Pets that are added per second, and streams that wait for them. */
const ADDED_PER_SECOND = 100;
const FOLLOWING = 100;
const NOW = "lastEventId=now";
const SECONDS = 10;
const PET = '{"name":"Rex","categoryId":7}';

/** Events in the log while clients catch up, and the numbers of these clients. */
const CAUGHT_UP = 150_000;
const CATCHING_UP = [0, 1, 10, 100];

await using temp = await TempStore.make();
await measureDelays();
await measureMemory();
await measureCatchingUp();

/** How long after its 201 an event arrives, on the instance that appended it and on another one. */
async function measureDelays(): Promise<void> {
  const token = await temp.issueKey();
  await using one = await startService(temp.kvPath, ROOT);
  await using two = await startService(temp.kvPath, ROOT);
  for (const [name, followed] of [["the same instance", one], ["another instance", two]] as const) {
    const arrivals = new Map<string, number[]>();
    using _following = await openAll(followed.port, Array(FOLLOWING).fill(token), NOW, (text) => {
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
  const adding = [];
  const start = performance.now();
  for (let count = 0; count < SECONDS * ADDED_PER_SECOND; count++) {
    await sleep(Math.max(0, start + count * 1_000 / ADDED_PER_SECOND - performance.now()));
    const added = fetch(`http://127.0.0.1:${port}/v1/pets`, { method: "POST", headers, body: PET });
    adding.push(added.then(async (response) => {
      const at = performance.now();
      acknowledged.set(`pets/${(await response.json()).id}`, at);
    }));
  }
  await Promise.all(adding);
  return acknowledged;
}

/** The memory of open streams. */
async function measureMemory(): Promise<void> {
  const tokens = await temp.use(async (service) => {
    const keys = FOLLOWERS_LIMIT / FOLLOWERS_OF_KEY_LIMIT;
    const issued = Array.from({ length: keys }, () => issueKey(service, { label: "bench" }));
    return (await Promise.all(issued)).map(({ token }) => token);
  });
  const all = Array.from({ length: FOLLOWERS_LIMIT }, (_, index) => tokens[index % tokens.length]);
  await using server = await startService(temp.kvPath, ROOT);
  // What the first requests load is not counted.
  using _first = await openAll(server.port, all.slice(0, 20), NOW);
  await sleep(1_000);
  const before = server.memoryMiB();
  using _rest = await openAll(server.port, all.slice(20), NOW);
  await sleep(2_000);
  const kib = (server.memoryMiB() - before) * 1_024 / (FOLLOWERS_LIMIT - 20);
  console.log(`Memory of an open stream: ${kib.toFixed(1)} KiB (${FOLLOWERS_LIMIT} of them)`);
}

/** Requests, one at a time, while clients read the log from its beginning again and again and want none of its events. */
async function measureCatchingUp(): Promise<void> {
  const kvPath = `${temp.folder}/catching_up.sqlite3`;
  const token = await fillByCheckout(ROOT, kvPath, CAUGHT_UP);
  await using server = await startService(kvPath, ROOT);
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const list = requestBytes({ method: "GET", path: "/v1/pets?limit=5", headers });
  const add = requestBytes({ method: "POST", path: "/v1/pets", headers, body: PET });
  const closing = { connection: "close" };
  const health = requestBytes({ method: "GET", path: "/healthz", headers: closing });
  console.log("| Catching up | a list: p50, p99 | an addition | a new connection | events read |");
  for (const clients of CATCHING_UP) {
    let passed = 0;
    let isOver = false;
    const catchUp = async () => {
      while (!isOver) {
        const { promise: ended, resolve: end } = Promise.withResolvers<void>();
        let position = 0;
        const take = (text: string) => {
          const now = Number(/.*id: (\d{16})-/s.exec(text)?.[1] ?? position);
          passed += now - position;
          position = now;
          if (position >= CAUGHT_UP || isOver) end();
        };
        using _stream = await openAll(server.port, [token], "type=PetUpdated", take);
        await ended;
      }
    };
    const catching = Array.from({ length: clients }, catchUp);
    await sleep(1_000);
    const [start, before] = [performance.now(), passed];
    const { port } = server;
    const cells = [];
    for (const next of [list, add, health]) {
      const measured = next === health
        ? await measureConnections(port, health)
        : await runLoad({ port, connections: 1, ms: SECONDS * 1_000, next: () => next });
      cells.push(`${measured.p50Ms.toFixed(1)} and ${measured.p99Ms.toFixed(1)} ms`);
    }
    const rate = (passed - before) / (performance.now() - start) * 1_000;
    console.log(`| ${[clients, ...cells, `${Math.round(rate)} per second`].join(" | ")} |`);
    isOver = true;
    await Promise.all(catching);
  }
}

/** The time from a new connection to all of its response. */
async function measureConnections(port: number, request: Uint8Array) {
  const latencies: number[] = [];
  for (let count = 0; count < SECONDS * 10; count++) {
    const start = performance.now();
    using socket = await Deno.connect({ hostname: "127.0.0.1", port });
    await socket.write(request);
    while (await socket.read(new Uint8Array(1_024)) !== null);
    latencies.push(performance.now() - start);
    await sleep(20);
  }
  const sorted = Float64Array.from(latencies).sort();
  return { p50Ms: quantile(sorted, 0.5), p99Ms: quantile(sorted, 0.99) };
}

/** Opens a stream for each token. `take` gets all that arrives later. */
async function openAll(
  port: number,
  tokens: string[],
  query: string,
  take: (text: string) => void = () => {},
): Promise<Disposable> {
  const sockets: Deno.Conn[] = [];
  for (const token of tokens) {
    const socket = await Deno.connect({ hostname: "127.0.0.1", port });
    sockets.push(socket);
    const headers = { authorization: `Bearer ${token}`, accept: "text/event-stream" };
    await socket.write(requestBytes({ method: "GET", path: `/v1/events?${query}`, headers }));
    const buffer = new Uint8Array(16 * 1_024);
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
