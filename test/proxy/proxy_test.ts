/**
 * Tests of scripts/deploy/haproxy.cfg with a real HAProxy.
 *
 *     deno task test:proxy
 */

import net from "node:net";
import tls from "node:tls";
import { assert, assertEquals, assertLess } from "@std/assert";
import { ERRORS } from "../../src/api/errors.ts";
import { BODY_LIMIT_BYTES } from "../../src/runtime/service_request.ts";
import { newFile, processesOn, testStories } from "../interface/target.ts";
import { makeCertificates } from "../support/certificates.ts";
import { freePort } from "../support/free_port.ts";
import { until } from "../support/until.ts";
import { readLines, ServiceProcess } from "../support/service_process.ts";
import { isInstalled } from "../support/store_server.ts";
import { TempStore } from "../support/temp_store.ts";
import { expectDone, install } from "../support/third_party_tools.ts";
import { testNeeding } from "../support/test_needing.ts";

/** Connections that the configuration allows an address. */
const CLIENT_CONNECTION_LIMIT = 100;

/** How many connections there are of each kind of hostile client. */
const HOSTILE = 300;

const HAPROXY = ["/usr/sbin/haproxy", "/usr/local/sbin/haproxy"].find(isInstalled) ?? "haproxy";

const INSTALLED = await install("HAProxy", async () => {
  if (Deno.build.os !== "linux") throw new Error("all of 127.0.0.0/8 is loopback only on Linux");
  await expectDone(HAPROXY, ["-v"]);
  await expectDone("openssl", ["version"]);
});

const testIfInstalled = testNeeding(INSTALLED);

interface Parts {
  proxy: Proxy;
  client: Deno.HttpClient;
  token: string;
  services: ServiceProcess[];
  kvPath: string;
}

/** Declares a test on a proxy before one service with a valid key, or two. By default, they have one store. */
function test(
  name: string,
  check: (parts: Parts) => Promise<void>,
  { services: count = 1, secondStore, env = {} }: {
    services?: number;
    secondStore?: string;
    env?: Record<string, string>;
  } = {},
): void {
  testIfInstalled(`the proxy ${name}`, async () => {
    await using stack = new AsyncDisposableStack();
    const temp = stack.use(await TempStore.make());
    const token = await temp.issueApiKey();
    const paths = [temp.kvPath, secondStore ?? temp.kvPath].slice(0, count);
    const starting = paths.map(async (path) => stack.use(await ServiceProcess.start(path, env)));
    const services = await Promise.all(starting);
    const [host, other] = services.map(({ address }) => new URL(address).host);
    const proxy = stack.use(await startProxy(host, other));
    using client = makeClient(proxy);
    await check({ proxy, client, token, services, kvPath: temp.kvPath });
  });
}

/** Declares a test on a proxy before a service that never answers. */
function testOnFakeService(
  name: string,
  isSilent: boolean,
  check: (proxy: Proxy, service: Awaited<ReturnType<typeof startFakeService>>) => Promise<void>,
): void {
  testIfInstalled(`the proxy ${name}`, async () => {
    using service = await startFakeService(isSilent);
    await using proxy = await startProxy(service.host);
    await check(proxy, service);
  });
}

test("serves a client during 600 idle and 300 slow connections from 10 addresses", async ({ proxy, token }) => {
  const addresses = Array.from({ length: 10 }, (_, i) => `127.0.1.${i + 1}`);
  using hostile = new HostileClients(proxy.port, addresses);
  await until(() => hostile.open.size > 0.98 * 3 * HOSTILE);
  await assertServes(proxy, token, 40);
  // Dropped connections are replaced, so that the load lasts to the end.
  assert(hostile.open.size > 0.5 * 3 * HOSTILE, `${hostile.open.size} are open`);
  hostile.isReplacing = false;
  await until(() => hostile.open.size === 0);
  for (const [kind, dropped] of Object.entries(hostile.dropped)) {
    assert(dropped >= HOSTILE, `${kind}: ${dropped}`);
  }
});

test("refuses most of 900 connections from one address, and serves the others", async ({ proxy, token }) => {
  using hostile = new HostileClients(proxy.port, ["127.0.0.2"]);
  hostile.isReplacing = false;
  const sum = (counts: number[]) => counts.reduce((a, b) => a + b, hostile.open.size);
  await until(() => hostile.refused + sum(Object.values(hostile.dropped)) === 3 * HOSTILE);
  // A silent connection that is refused may have been open for a moment. The others shook hands, so they were accepted:
  // some when the proxy had dropped earlier ones.
  const { kept, slow } = hostile.dropped;
  assertLess(sum([kept, slow]), 3 * CLIENT_CONNECTION_LIMIT);
  await assertServes(proxy, token, 20);
});

test(
  "sends requests to ready services only, or to any service if none is ready",
  async ({ proxy, client, token, services: [ready] }) => {
    const statuses = async (count: number) => {
      const seen = new Set<number>();
      for (let i = 0; i < count; i++) {
        const headers = headersOf(token);
        const { status, body } = await fetch(`${proxy.address}/v1/pets`, { client, headers });
        await body?.cancel();
        seen.add(status);
      }
      return [...seen];
    };
    // The key is not in the other store. The proxy refuses an address with too many errors, so there are pauses.
    await until(async () => {
      await sleep(500);
      return (await statuses(10)).join() === "200";
    });
    await sleep(3_000);
    assertEquals(await statuses(10), [200]);
    await ready.stop("SIGKILL");
    await until(async () => (await statuses(1)).join() === "401");
  },
  { services: 2, secondStore: ":memory:" },
);

test(
  "tells the service the address of a client, who cannot forge it",
  async ({ proxy, token, services: [service] }) => {
    const { port, authority: ca } = proxy;
    const to = { host: "127.0.0.1", port, localAddress: "127.0.0.9", servername: "localhost", ca };
    const head = [
      "GET /v1/pets HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${token}`,
      "X-Forwarded-For: 203.0.113.1",
      "X-Forwarded-For: 203.0.113.2, 203.0.113.3",
    ];
    const socket = tls.connect(to, () => socket.write(`${head.join("\r\n")}\r\n\r\n`));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await until(() => service.lines.some((line) => line.includes('"request"')));
    const line = service.lines.find((line) => line.includes('"request"'))!;
    const { path, address } = JSON.parse(line);
    assertEquals([path, address], ["/v1/pets", "127.0.0.9"]);
  },
  { env: { ACCESS_LOG: "true", TRUSTED_PROXIES: "127.0.0.1" } },
);

test(
  "uses both services, and loses no addition if one of them is stopped",
  async ({ proxy, client, token, services: [, second] }) => {
    const instances = new Set<string>();
    const add = async () => {
      const response = await post(proxy, client, token, '{"name":"Rex","categoryId":7}');
      assertEquals(response.status, 201, await response.text());
      instances.add(response.headers.get("x-request-id")!.split("-")[0]);
    };
    for (let i = 0; i < 10; i++) await add();
    assertEquals(instances.size, 2);
    const stopped = second.stop("SIGTERM");
    for (let i = 0; i < 30; i++) await add();
    assertEquals(await stopped, 0);
  },
  { services: 2 },
);

test(
  "lets requests wait while the only service restarts, also for some seconds",
  async ({ proxy, client, token, kvPath, services: [first] }) => {
    const seen = new Map<string, number>();
    const note = (outcome: string) => seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    let isOver = false;
    const clients = Array.from({ length: 6 }, async (_, number) => {
      while (!isOver) {
        const headers = headersOf(token);
        const sending = number % 2 === 0
          ? fetch(`${proxy.address}/v1/pets?limit=1`, { client, headers })
          : addWithKey(proxy, client, token);
        note(
          await sending.then(async (response) => {
            await response.body?.cancel();
            return String(response.status);
          }, (error) => String(error)),
        );
      }
    });
    const { port } = new URL(first.address);
    let service = first;
    for (let time = 0; time < 5; time++) {
      await sleep(1_000);
      await service.stop();
      await sleep(time * 1_000);
      service = await ServiceProcess.start(kvPath, { PORT: port });
    }
    isOver = true;
    await Promise.all(clients);
    await service.stop();
    assertEquals([...seen.keys()].sort(), ["200", "201"], JSON.stringify([...seen]));
  },
);

testStories({
  name: "behind HAProxy",
  needs: [INSTALLED],
  async open(stack) {
    const services = await processesOn(newFile, 2)(stack);
    const [host, other] = services.addresses.map((address) => new URL(address).host);
    const { address, authority } = stack.use(await startProxy(host, other));
    // The proxy refuses an address with too many errors.
    const clients = Array.from({ length: 20 }, (_, number) => {
      const localAddress = `127.0.2.${number + 1}`;
      return stack.use(
        Deno.createHttpClient({ allowHost: true, caCerts: [authority], localAddress }),
      );
    });
    return { ...services, addresses: [address], clients };
  },
});

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Adds a pet in a request that can be sent again. */
function addWithKey(
  { address }: Proxy,
  client: Deno.HttpClient,
  token: string,
): Promise<Response> {
  const headers = {
    ...headersOf(token),
    "idempotency-key": crypto.randomUUID(),
  };
  const body = '{"name":"Rex","categoryId":7}';
  return fetch(`${address}/v1/pets`, { method: "POST", client, headers, body });
}

test("forwards a body of 64 KiB, and refuses a larger one", async ({ proxy, client, token }) => {
  for (const bytes of [BODY_LIMIT_BYTES, BODY_LIMIT_BYTES + 1, ...Array(10).fill(150_000)]) {
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
    for (const { response, sentBytes } of [chunked, declared]) {
      await assertError(response, 413, "body_too_large");
      assertLess(sentBytes, 16 * 2 ** 20);
    }
    await assertError(stopped.response, 408, "request_timeout");
    assertEquals(service.connections(), 0);
  },
);

testOnFakeService("itself answers 400 to a malformed body", false, async (proxy) => {
  using connection = await connectTo(proxy);
  const write = (text: string) => connection.write(new TextEncoder().encode(text));
  await write("POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  // Together with the headers, HAProxy 2.6 answers with a page of its own.
  await new Promise((resolve) => setTimeout(resolve, 200));
  await write("zz\r\n");
  await assertError(await readResponse(connection), 400, "malformed_request");
});

test("refuses headers that are larger than 16 KiB", async ({ proxy, client }) => {
  const get = (headerLength: number) =>
    fetch(`${proxy.address}/healthz`, { client, headers: { "x-a": "a".repeat(headerLength) } });
  const answered = await get(15_000);
  assertEquals([answered.status, await answered.text()], [200, '{"status":"alive"}']);
  await assertError(await get(17_000), 413, "body_too_large");
});

test("forwards each part of a stream as it comes, through silence of 15 seconds, and a wait of 30 seconds", async ({ proxy, client, token }) => {
  const events = `${proxy.address}/v1/events`;
  const headers = headersOf(token);
  const accept = { ...headers, accept: "text/event-stream" };
  const leave = new AbortController();
  const stream = await fetch(events, { client, headers: accept, signal: leave.signal });
  const lines: string[] = [];
  const reading = readLines(stream.body!, (line) => lines.push(line)).catch(() => {});
  const query = "type=PetUpdated&lastEventId=now&timeout=30000";
  // An encoded letter means the same to the service.
  const waits = [events, `${proxy.address}/v1/%65vents`].map((path) =>
    fetch(`${path}?${query}`, { client, headers })
  );
  const added = await post(proxy, client, token, '{"name":"Rex","categoryId":7}');
  assertEquals((await added.json()).id, 1);
  await until(() => lines.includes("event: PetCreated"));
  assert(!lines.includes(":"), "The event did not wait for the next comment");
  await until(() => lines.filter((line) => line === ":").length === 2);
  for (const waited of await Promise.all(waits)) {
    assertEquals([waited.status, await waited.text()], [200, "[]"]);
  }
  leave.abort();
  await reading;
});

test("answers 429 to an address whose requests were refused too often", async ({ proxy, client }) => {
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
});

const UNANSWERED: [fault: string, code: string, isSilent: boolean, isAway: boolean][] = [
  ["is away", "store_unavailable", false, true],
  ["is silent", "outcome_unknown", true, false],
  ["closes the connection", "outcome_unknown", false, false],
];

for (const [fault, code, isSilent, isAway] of UNANSWERED) {
  testOnFakeService(`answers 503 if the service ${fault}`, isSilent, async (proxy, service) => {
    using client = makeClient(proxy);
    if (isAway) service.close();
    const response = await post(proxy, client, "pets_", "{}");
    assertEquals(response.headers.get("retry-after"), "1");
    await assertError(response, 503, code);
    // No request is sent to the service a second time.
    assertEquals(service.connections(), isAway ? 0 : 1);
  });
}

testOnFakeService(
  "does not say that nothing was stored if it has sent a request before",
  false,
  async (proxy, service) => {
    using client = makeClient(proxy);
    const sending = addWithKey(proxy, client, "pets_");
    await until(() => service.connections() > 0);
    service.close();
    await assertError(await sending, 503, "outcome_unknown");
  },
);

testOnFakeService("refuses HTTP/2, with ALPN and with prior knowledge", false, async (proxy) => {
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
});

/** Lists and adds in turn, each time with a new connection and with a kept one. */
async function assertServes(proxy: Proxy, token: string, requests: number): Promise<void> {
  using kept = makeClient(proxy);
  for (let i = 0; i < requests; i++) {
    using own = i % 4 < 2 ? makeClient(proxy) : undefined;
    const client = own ?? kept;
    const response = i % 2 === 0
      ? await fetch(`${proxy.address}/v1/pets`, { client, headers: headersOf(token) })
      : await post(proxy, client, token, '{"name":"Rex","categoryId":7}');
    const text = await response.text();
    assert(response.ok, text);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const REQUEST = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n";

/**
 * Hostile connections, from several addresses in turn: `silent` ones never send a byte, `kept` ones send nothing
 * after one response, and `slow` ones send one byte of a header each second.
 */
class HostileClients implements Disposable {
  readonly open = new Set<net.Socket>();
  /** How many were open before the proxy dropped them, by kind. */
  readonly dropped = { silent: 0, kept: 0, slow: 0 };
  /** How many were refused at once. */
  refused = 0;
  isReplacing = true;

  constructor(port: number, addresses: string[]) {
    for (let i = 0; i < HOSTILE; i++) {
      for (const kind of ["silent", "kept", "slow"] as const) {
        const localAddress = addresses[i % addresses.length];
        this.#connect(kind, { host: "127.0.0.1", port, localAddress });
      }
    }
  }

  #connect(kind: "silent" | "kept" | "slow", to: net.TcpNetConnectOpts): void {
    const onOpen = () => this.open.add(socket);
    const socket: net.Socket = kind === "silent"
      ? net.connect(to, onOpen)
      : tls.connect({ ...to, rejectUnauthorized: false } as tls.ConnectionOptions, () => {
        socket.write(kind === "kept" ? `${REQUEST}\r\n` : `${REQUEST}X-Slow: `);
        if (kind === "kept") return;
        onOpen();
        const trickle = setInterval(() => socket.write("a"), 1_000);
        socket.once("close", () => clearInterval(trickle));
      });
    if (kind === "kept") socket.on("data", onOpen);
    socket.on("error", () => {});
    socket.on("close", () => {
      if (this.open.delete(socket)) this.dropped[kind]++;
      else this.refused++;
      if (this.isReplacing) this.#connect(kind, to);
    });
  }

  [Symbol.dispose](): void {
    this.isReplacing = false;
    for (const socket of this.open) socket.destroy();
  }
}

/** Starts a service that responds only to checks: it closes a connection when bytes arrive, or keeps it open. */
async function startFakeService(isSilent: boolean) {
  const open: net.Socket[] = [];
  let connections = 0;
  const listener = net.createServer((socket) => {
    open.push(socket);
    socket.on("error", () => {});
    socket.once("data", (bytes) => {
      if (bytes.toString().startsWith("GET /readyz ")) socket.end("HTTP/1.0 200 OK\r\n\r\n");
      else {
        connections++;
        if (!isSilent) socket.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, "127.0.0.1", resolve));
  const { port } = listener.address() as net.AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    /** Number of connections with a request. */
    connections: () => connections,
    /** Closes the port. */
    close: () => listener.close(),
    [Symbol.dispose]() {
      listener.close();
      for (const socket of open) socket.destroy();
    },
  };
}

/** Sends a text, then repeats another one until a response comes, and resolves to that response. */
async function sendRaw(proxy: Proxy, text: string, repeated?: string) {
  using connection = await connectTo(proxy);
  const encoder = new TextEncoder();
  await connection.write(encoder.encode(text));
  let sentBytes = 0;
  let hasResponse = false;
  const pending = readResponse(connection).finally(() => hasResponse = true);
  if (repeated !== undefined) {
    const chunk = encoder.encode(repeated);
    try {
      while (!hasResponse) sentBytes += await connection.write(chunk);
    } catch {
      // The proxy closes the connection after its response.
    }
  }
  return { response: await pending, sentBytes };
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

function connectTo({ port, authority }: Proxy, alpnProtocols?: string[]): Promise<Deno.TlsConn> {
  return Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [authority], alpnProtocols });
}

function makeClient({ authority }: Proxy): Deno.HttpClient {
  return Deno.createHttpClient({ caCerts: [authority] });
}

function post(
  { address }: Proxy,
  client: Deno.HttpClient,
  token: string,
  body: BodyInit,
): Promise<Response> {
  return fetch(`${address}/v1/pets`, { client, method: "POST", headers: headersOf(token), body });
}

function headersOf(token: string): Record<string, string> {
  return { authorization: `Bearer ${token}`, "content-type": "application/json" };
}

interface Proxy extends AsyncDisposable {
  port: number;
  address: string;
  /** The certificate of the authority, as PEM. */
  authority: string;
}

/**
 * Starts HAProxy with the configuration that operators install, but with other addresses and files, and without another
 * user, on loopback and a free port. Resolves when it listens. The services have addresses such as `127.0.0.1:8000`;
 * there may be one of them.
 */
async function startProxy(first: string, second?: string): Promise<Proxy> {
  const temp = await TempStore.make();
  const { folder } = temp;
  const port = freePort();
  const paths = await makeCertificates(folder, "DNS:localhost,IP:127.0.0.1");
  const [authority, certificate, key] = await Promise.all(
    [paths.authority, paths.certificate, paths.key].map((path) => Deno.readTextFile(path)),
  );
  await Deno.writeTextFile(`${folder}/pets.pem`, certificate + key);
  const changes = {
    "    user haproxy\n": "",
    "    group haproxy\n": "",
    "    chroot /var/lib/haproxy\n": "",
    "bind :443,:::443 v6only ": `bind 127.0.0.1:${port} `,
    "/etc/haproxy/pets.pem": `${folder}/pets.pem`,
    "127.0.0.1:8000": first,
    "127.0.0.1:8001": second ?? "127.0.0.1:8001",
  };
  let text = await Deno.readTextFile(new URL("../../scripts/deploy/haproxy.cfg", import.meta.url));
  for (const [from, to] of Object.entries(changes)) {
    assert(text.includes(from), `the configuration has ${JSON.stringify(from)}`);
    text = text.replaceAll(from, to);
  }
  // As the manual does for one service.
  if (second === undefined) text = text.replaceAll(/^.*(?::8001|redispatch).*\n/gm, "");
  const configuration = `${folder}/haproxy.cfg`;
  await Deno.writeTextFile(configuration, text);
  await expectDone(HAPROXY, ["-c", "-f", configuration]);
  const process = new Deno.Command(HAPROXY, { args: ["-f", configuration], stderr: "null" })
    .spawn();
  const stop = async () => {
    process.kill("SIGTERM");
    await process.status;
    await temp[Symbol.asyncDispose]();
  };
  await until(async () => (await Deno.connect({ hostname: "127.0.0.1", port })).close());
  return { port, address: `https://127.0.0.1:${port}`, authority, [Symbol.asyncDispose]: stop };
}
