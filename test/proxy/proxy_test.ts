/**
 * Tests of scripts/deploy/haproxy.cfg with a real HAProxy.
 *
 *     deno task test:proxy
 */

import { assert, assertEquals } from "@std/assert";
import { ERRORS } from "../../src/http/errors.ts";
import { BODY_LIMIT_BYTES } from "../../src/http/requests/request_body.ts";
import { permitted } from "../support/permitted.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import type { HostileCounts, HostileKind, HostileOptions } from "./hostile_clients.ts";
import { haproxyPath, ProxyProcess } from "./proxy_process.ts";

/** The limits of the configuration. */
const CLIENT_CONNECTION_LIMIT = 100;
const HEADER_LIMIT_MS = 10_000;
const IDLE_LIMIT_MS = 15_000;
const RESPONSE_LIMIT_MS = 10_000;
/** Tolerance for a machine that is busy with 3,000 connections. */
const LATE_MS = 5_000;

const HOSTILE = { silent: 1_000, kept: 1_000, slow: 1_000 };
const HOSTILE_TOTAL = 3_000;
const MEDIAN_LIMIT_MS = 100;

const missing = whatIsMissing();
if (missing !== undefined) console.log(`Left out the tests of the proxy: ${missing}`);

/** Declares a test on a proxy before a service with a valid key. */
function testOnProxy(
  name: string,
  check: (proxy: ProxyProcess, client: Deno.HttpClient, token: string) => Promise<void>,
): void {
  Deno.test({
    name: `the proxy ${name}`,
    ignore: missing !== undefined,
    async fn() {
      await using temp = await TempStore.make();
      const token = await temp.issueKey();
      await using service = await ServiceProcess.start(temp.kvPath);
      await using proxy = await ProxyProcess.start(new URL(service.address).host);
      using client = makeClient(proxy);
      await check(proxy, client, token);
    },
  });
}

/** Declares a test on a proxy before a service that never answers. */
function testOnFakeService(
  name: string,
  isSilent: boolean,
  check: (proxy: ProxyProcess, service: FakeService) => Promise<void>,
): void {
  Deno.test({
    name: `the proxy ${name}`,
    ignore: missing !== undefined,
    async fn() {
      using service = new FakeService(isSilent);
      await using proxy = await ProxyProcess.start(service.host);
      await check(proxy, service);
    },
  });
}

testOnProxy(
  "serves a client during 2,000 idle and 1,000 slow connections from 30 addresses",
  async (proxy, _, token) => {
    using hostile = new HostileClients({
      port: proxy.port,
      connections: HOSTILE,
      localAddresses: Array.from({ length: 30 }, (_, i) => `127.0.1.${i + 1}`),
      replaces: true,
    });
    await hostile.until(({ open }) => sum(open) > 0.98 * HOSTILE_TOTAL, 20_000);
    await assertServes(proxy, token, 15_000);
    const { open } = hostile.counts;
    const memoryMiB = Math.round(await proxy.residentBytes() / 2 ** 20);
    console.log(`${sum(open)} hostile connections open, ${memoryMiB} MiB`);
    // Dropped connections are replaced, so that the load lasts to the end.
    assert(sum(open) > 0.9 * HOSTILE_TOTAL, JSON.stringify(open));

    hostile.stopReplacing();
    const last = await hostile.until(({ open }) => sum(open) === 0, IDLE_LIMIT_MS + LATE_MS);
    console.log(`Dropped ${JSON.stringify(last.dropped)}; ms ${JSON.stringify(last.longestMs)}`);
    for (const kind of ["silent", "kept", "slow"] as const) {
      const limitMs = kind === "slow" ? HEADER_LIMIT_MS : IDLE_LIMIT_MS;
      assert(last.dropped[kind] >= HOSTILE[kind], `${kind}: ${last.dropped[kind]}`);
      assert(last.longestMs[kind] < limitMs + LATE_MS, `${kind}: ${last.longestMs[kind]} ms`);
    }
  },
);

testOnProxy(
  "refuses most of 3,000 connections from one address, and serves the others",
  async (proxy, _, token) => {
    using hostile = new HostileClients({
      port: proxy.port,
      connections: HOSTILE,
      localAddresses: ["127.0.0.2"],
      replaces: false,
    });
    const { open } = await hostile.until(
      ({ dropped, refused }) => sum(dropped) + refused >= HOSTILE_TOTAL - CLIENT_CONNECTION_LIMIT,
      HEADER_LIMIT_MS - 2_000,
    );
    assertEquals(sum(open), CLIENT_CONNECTION_LIMIT);
    await assertServes(proxy, token, 3_000);
  },
);

testOnProxy("forwards a body of 64 KiB, and refuses a larger one", async (proxy, client, token) => {
  for (const bytes of [BODY_LIMIT_BYTES, BODY_LIMIT_BYTES + 1]) {
    const body = '{"name":"Rex","categoryId":7}'.padEnd(bytes);
    // A stream has no Content-Length.
    for (const sent of [body, ReadableStream.from([new TextEncoder().encode(body)])]) {
      const response = await post(proxy, client, token, sent);
      if (bytes > BODY_LIMIT_BYTES) await assertError(response, 413, "body_too_large");
      else {
        assertEquals(response.status, 201);
        await response.body?.cancel();
      }
    }
  }
});

testOnFakeService(
  "itself answers 413 to an endless body and 408 to one that stops",
  false,
  async (proxy, service) => {
    const head = "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n";
    const chunk = `4000\r\n${"a".repeat(0x4000)}\r\n`;
    const [chunked, declared, stopped] = await Promise.all([
      sendRaw(proxy, `${head}Transfer-Encoding: chunked\r\n\r\n`, chunk),
      sendRaw(proxy, `${head}Content-Length: 999999999\r\n\r\n`, chunk),
      sendRaw(proxy, `${head}Content-Length: 100\r\n\r\n{`),
    ]);
    for (const { response, sentBytes, tookMs } of [chunked, declared]) {
      await assertError(response, 413, "body_too_large");
      assert(sentBytes < 16 * 2 ** 20, `${sentBytes} bytes were sent`);
      assert(tookMs < 5_000, `${tookMs} ms`);
    }
    await assertError(stopped.response, 408, "request_timeout");
    assert(stopped.tookMs < HEADER_LIMIT_MS + LATE_MS, `${stopped.tookMs} ms`);
    assertEquals(service.connections, 0);
  },
);

testOnProxy("refuses headers that are larger than 16 KiB", async (proxy, client) => {
  const get = (headerLength: number) =>
    fetch(`${proxy.address}/healthz`, { client, headers: { "x-a": "a".repeat(headerLength) } });
  const answered = await get(15_000);
  assertEquals([answered.status, await answered.text()], [200, '{"status":"alive"}']);
  await assertError(await get(17_000), 413, "body_too_large");
});

testOnProxy(
  "answers 429 to an address whose requests were refused too often",
  async (proxy, client) => {
    const get = () => fetch(`${proxy.address}/v1/pets`, { client });
    for (let i = 0; i < 200; i++) await assertError(await get(), 401, "missing_credentials");
    let refused = await get();
    // The rate is that of a sliding window, so the limit is approximate.
    for (let i = 0; i < 100 && refused.status === 401; i++) {
      await refused.body?.cancel();
      refused = await get();
    }
    assertEquals(refused.headers.get("retry-after"), "10");
    await assertError(refused, 429, "rate_limited");
  },
);

const UNANSWERED: Record<string, { code: string; isSilent: boolean; isAway: boolean }> = {
  "is away": { code: "store_unavailable", isSilent: false, isAway: true },
  "is silent": { code: "outcome_unknown", isSilent: true, isAway: false },
  "closes the connection": { code: "outcome_unknown", isSilent: false, isAway: false },
};

for (const [fault, { code, isSilent, isAway }] of Object.entries(UNANSWERED)) {
  testOnFakeService(`answers 503 if the service ${fault}`, isSilent, async (proxy, service) => {
    using client = makeClient(proxy);
    if (isAway) service.close();
    const startedMs = performance.now();
    const response = await post(proxy, client, "pets_", "{}");
    assertEquals(response.headers.get("retry-after"), "1");
    await assertError(response, 503, code);
    assert(performance.now() - startedMs < RESPONSE_LIMIT_MS + LATE_MS);
    // No request is sent to the service a second time.
    assertEquals(service.connections, isAway ? 0 : 1);
  });
}

testOnFakeService(
  "refuses HTTP/2, with ALPN and with prior knowledge",
  false,
  async (proxy) => {
    for (const alpnProtocols of [["h2", "http/1.1"], []]) {
      using connection = await connectTo(proxy, alpnProtocols);
      const { alpnProtocol } = await connection.handshake();
      assert(alpnProtocol !== "h2");
      await connection.write(new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
      const buffer = new Uint8Array(1_024);
      const length = await connection.read(buffer);
      const response = new TextDecoder().decode(buffer.subarray(0, length ?? 0));
      assert(response.startsWith("HTTP/1.1 400 "), response);
    }
  },
);

/** Lists and adds 20 times a second, half of the time on new connections, and asserts that all is well. */
async function assertServes(proxy: ProxyProcess, token: string, durationMs: number): Promise<void> {
  using kept = makeClient(proxy);
  const send = async (i: number): Promise<number> => {
    using own = i % 4 < 2 ? makeClient(proxy) : undefined;
    const startedMs = performance.now();
    const client = own ?? kept;
    const response = i % 2 === 0
      ? await fetch(`${proxy.address}/v1/pets`, { client, headers: headersOf(token) })
      : await post(proxy, client, token, '{"name":"Rex","categoryId":7}');
    await response.text();
    assert(response.ok, `${response.status}`);
    return performance.now() - startedMs;
  };
  const responses: Promise<number>[] = [];
  for (let i = 0; i < durationMs / 50; i++) {
    responses.push(send(i));
    await sleep(50);
  }
  const sorted = (await Promise.all(responses)).sort((a, b) => a - b);
  const [median, p99] = [0.5, 0.99].map((share) => sorted[Math.floor(share * (sorted.length - 1))]);
  console.log(
    `${sorted.length} answers, median ${Math.round(median)} ms, p99 ${Math.round(p99)} ms`,
  );
  assert(median < MEDIAN_LIMIT_MS, `median ${median} ms`);
}

/** The hostile clients of a worker. */
class HostileClients implements Disposable {
  counts: HostileCounts = {
    open: { silent: 0, kept: 0, slow: 0 },
    dropped: { silent: 0, kept: 0, slow: 0 },
    refused: 0,
    longestMs: { silent: 0, kept: 0, slow: 0 },
  };
  #worker = new Worker(new URL("hostile_clients.ts", import.meta.url), { type: "module" });

  constructor(options: HostileOptions) {
    this.#worker.onmessage = ({ data }: MessageEvent<HostileCounts>) => this.counts = data;
    this.#worker.postMessage(options);
  }

  stopReplacing(): void {
    this.#worker.postMessage("stop");
  }

  /** Resolves to the counts when they satisfy the condition. */
  async until(
    condition: (counts: HostileCounts) => boolean,
    limitMs: number,
  ): Promise<HostileCounts> {
    const deadlineMs = performance.now() + limitMs;
    while (!condition(this.counts)) {
      assert(performance.now() < deadlineMs, `after ${limitMs} ms: ${JSON.stringify(this.counts)}`);
      await sleep(50);
    }
    return this.counts;
  }

  [Symbol.dispose](): void {
    this.#worker.terminate();
  }
}

/** A service without responses: it closes a connection when bytes arrive, or keeps it open. */
class FakeService implements Disposable {
  connections = 0;
  readonly host: string;
  #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  #open: Deno.Conn[] = [];

  constructor(isSilent: boolean) {
    this.host = `127.0.0.1:${this.#listener.addr.port}`;
    this.#accept(isSilent);
  }

  /** Closes the port. */
  close(): void {
    this.#listener.close();
  }

  async #accept(isSilent: boolean): Promise<void> {
    for await (const connection of this.#listener) {
      this.connections++;
      await connection.read(new Uint8Array(1_024));
      if (isSilent) this.#open.push(connection);
      else connection.close();
    }
  }

  [Symbol.dispose](): void {
    try {
      this.close();
    } catch {
      // It is already closed.
    }
    for (const connection of this.#open) connection.close();
  }
}

/** Sends a text, then repeats another one until a response comes, and resolves to that response. */
async function sendRaw(proxy: ProxyProcess, text: string, repeated?: string) {
  const startedMs = performance.now();
  using connection = await connectTo(proxy);
  const encoder = new TextEncoder();
  await connection.write(encoder.encode(text));
  let sentBytes = 0;
  const pending = readResponse(connection);
  if (repeated !== undefined) {
    const chunk = encoder.encode(repeated);
    let hasResponse = false;
    pending.finally(() => hasResponse = true);
    try {
      while (!hasResponse) sentBytes += await connection.write(chunk);
    } catch {
      // The proxy closes the connection after its response.
    }
  }
  return { response: await pending, sentBytes, tookMs: performance.now() - startedMs };
}

/** Reads a response whose body is one JSON object. */
async function readResponse(connection: Deno.Conn): Promise<Response> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(4_096);
  let text = "";
  while (!text.endsWith("}")) {
    const length = await connection.read(buffer);
    assert(length !== null, `the connection was closed after ${JSON.stringify(text)}`);
    text += decoder.decode(buffer.subarray(0, length), { stream: true });
  }
  const [head, body] = text.split("\r\n\r\n");
  const [statusLine, ...lines] = head.split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(": ") as [string, string]));
  return new Response(body, { status: Number(statusLine.split(" ")[1]), headers });
}

async function assertError(response: Response, status: number, code: string): Promise<void> {
  const body = await response.json();
  assertEquals([response.status, body.status, body.code], [status, status, code]);
  assertEquals(Object.keys(body), ["code", "message", "status"]);
  assertEquals(response.headers.get("content-type"), "application/json");
  assertEquals(ERRORS[code as keyof typeof ERRORS].status, status);
}

function connectTo(
  { port, certificate }: ProxyProcess,
  alpnProtocols?: string[],
): Promise<Deno.TlsConn> {
  return Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [certificate], alpnProtocols });
}

function makeClient(proxy: ProxyProcess): Deno.HttpClient {
  return Deno.createHttpClient({ caCerts: [proxy.certificate] });
}

function post(
  { address }: ProxyProcess,
  client: Deno.HttpClient,
  token: string,
  body: BodyInit,
): Promise<Response> {
  return fetch(`${address}/v1/pets`, { client, method: "POST", headers: headersOf(token), body });
}

function headersOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

function sum(counts: Record<HostileKind, number>): number {
  return counts.silent + counts.kept + counts.slow;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function whatIsMissing(): string | undefined {
  if (!permitted("run", "read", "write", "net", "env", "sys")) return "they need all permissions";
  if (Deno.build.os !== "linux") return "they need Linux, where all of 127.0.0.0/8 is loopback";
  if (haproxyPath() === undefined) return "haproxy is not installed";
  try {
    new Deno.Command("openssl", { args: ["version"], stdout: "null" }).outputSync();
  } catch {
    return "openssl is not installed";
  }
}
