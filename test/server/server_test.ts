import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import http2 from "node:http2";
import { assert, assertEquals, assertLess, assertMatch, assertStringIncludes } from "@std/assert";
import { BODY_LIMIT_MS } from "../../src/api/requests/request_body.ts";
import { BODY_LIMIT_BYTES, type RequestHandler } from "../../src/runtime/service_request.ts";
import { Server } from "../../src/server/server.ts";
import { type Gauges, NO_INSTRUMENTATION } from "../../src/runtime/instrumentation.ts";
import { FakeRuntime } from "eventstore-less/testing";
import { LINUX, permissions, PROCESSES, testNeeding } from "../support/test_needing.ts";
import { IS_ON_NODE, ON_DENO } from "../support/programs.ts";
import { connect } from "../support/raw_connection.ts";
import { serveOnSocket } from "../support/serve_on_socket.ts";
import { RUN, ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { openTestService, type TestService } from "../support/test_service.ts";
import { until } from "../support/until.ts";
import { utf8 } from "../support/utf8.ts";

const test = testNeeding(permissions("net"));
const testOnDeno = testNeeding(permissions("net"), ON_DENO);

const SHOP = "https://shop.example";

const REX = '{"name":"Rex","categoryId":1}';

/** More than the socket buffers on both sides can hold. */
const SWALLOWED_BYTES = 16_000_000;

const testOnLinux = testNeeding(LINUX, PROCESSES);

/** Declares a test on a service in its own process. `within` may be a command that runs it. */
function testOnProcess(
  name: string,
  within: string[],
  check: (
    service: ServiceProcess,
    port: number,
    token: string,
    temp: TempStore,
  ) => Promise<void>,
): void {
  testOnLinux(name, async () => {
    await using temp = await TempStore.make();
    const token = await temp.issueApiKey();
    const env = { CORS_ORIGINS: SHOP };
    await using service = await ServiceProcess.start(temp.kvPath, env, [...within, ...RUN]);
    await check(service, Number(new URL(service.address).port), token, temp);
  });
}

testOnProcess(
  "a service without free file descriptors closes idle connections, listens again and shuts down",
  ["prlimit", "--nofile=256:256"],
  async (service, port) => {
    const idle: Deno.Conn[] = [];
    try {
      for (let count = 0; count < 400; count++) {
        const connecting = Deno.connect({ hostname: "127.0.0.1", port })
          .then((connection) => void idle.push(connection), () => {});
        await Promise.race([connecting, new Promise((resolve) => setTimeout(resolve, 50))]);
      }
      await until(() => service.lines.some((line) => line.includes("accept_failed")));
      await until(() => fetch(`${service.address}/healthz`).then((it) => it.json(), () => false));
    } finally {
      for (const connection of idle) connection.close();
    }
    const reports = service.lines.filter((line) => line.includes("accept_failed"));
    assertEquals(reports.length, 1, reports.join("\n"));
    assertStringIncludes(reports[0], "Too many open files");
    assertEquals(await service.stop("SIGTERM"), 0);
  },
);

/** What clients send who then hold their connection. Each gets at most a part of a response, which it does not read. */
const HOLDS = {
  "half a request after another": "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\nGET /healthz",
  "CONNECT": "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n",
  "requests for long responses": "GET /docs/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n".repeat(10),
};

testOnProcess(
  "clients that hold connections and read nothing do not keep others out",
  ["prlimit", "--nofile=128:128"],
  async (service, port) => {
    for (const [name, sent] of Object.entries(HOLDS)) {
      const held: Deno.Conn[] = [];
      try {
        for (let count = 0; count < 150; count++) {
          const connection = await Deno.connect({ hostname: "127.0.0.1", port }).catch(() => {});
          if (connection === undefined) continue;
          held.push(connection);
          await connection.write(new TextEncoder().encode(sent)).catch(() => {});
        }
        const isAlive = () => fetch(`${service.address}/healthz`).then((it) => it.ok, () => false);
        await until(isAlive, name);
      } finally {
        for (const connection of held) connection.close();
      }
    }
  },
);

/** The part of a service that tests on a real server use. */
type Served =
  & Pick<TestService, "add" | "heads" | "reports" | "token">
  & Partial<Pick<TestService, "runtime">>;

/** Declares a test on a real server, to which it can send bytes: on Node, that of a process. */
function testOnServer(
  name: string,
  check: (service: Served, port: number) => Promise<void>,
): void {
  if (IS_ON_NODE) return testOnNode(name, check);
  test(name, async () => {
    await using service = await openTestService({ corsOrigins: [SHOP] });
    await using server = await serveOnSocket(service);
    await check(service, server.port);
    assertEquals((await service.add(REX)).status, 201);
  });
}

function testOnNode(name: string, check: (service: Served, port: number) => Promise<void>): void {
  testOnProcess(name, [], async (service, port, token, temp) => {
    const { add } = service.client(token);
    const heads = { fresh: () => temp.use(({ heads }) => heads.fresh()) } as Served["heads"];
    const served = {
      add,
      heads,
      token,
      get reports() {
        return service.lines.map(reportOf).filter(([, event]) => event !== "listening");
      },
    };
    await check(served, port);
    assertEquals((await add(REX)).status, 201);
  });
}

function reportOf(line: string): Served["reports"][0] {
  const { time: _, level, event, ...details } = JSON.parse(line);
  return [level, event, details];
}

const ENDLESS = {
  declared: "Content-Length: 999999999999\r\n\r\n",
  chunked: "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFF\r\n",
};

testOnServer(
  "the server stops reading the endless body of a refused request",
  async (service, port) => {
    const key = `Authorization: Bearer ${service.token}\r\n`;
    const cases: [status: number, head: string][] = [
      [401, "POST /v1/pets HTTP/1.1\r\n"],
      [401, `POST /v1/pets HTTP/1.1\r\nAuthorization: Bearer pets_x\r\n`],
      [401, "DELETE /v1/pets/1 HTTP/1.1\r\n"],
      [405, `PUT /v1/pets HTTP/1.1\r\n${key}`],
      [413, "POST /docs HTTP/1.1\r\n"],
      [413, `POST /v1/pets HTTP/1.1\r\n${key}Content-Type: application/json\r\n`],
      [415, `POST /v1/pets HTTP/1.1\r\n${key}Content-Type: text/plain\r\n`],
      [401, "GET /v1/pets HTTP/1.1\r\n"],
      [404, `GET /v1/pets/9 HTTP/1.1\r\n${key}`],
      [413, "GET /healthz HTTP/1.1\r\n"],
      [413, "CONNECT x:1 HTTP/1.1\r\n"],
      [
        413,
        `OPTIONS /v1/pets HTTP/1.1\r\nOrigin: ${SHOP}\r\nAccess-Control-Request-Method: POST\r\n`,
      ],
    ];
    for (const [status, head] of cases) {
      for (const [framing, rest] of Object.entries(ENDLESS)) {
        using connection = await connect(port);
        await connection.write(`${head}Host: localhost\r\n${rest}`);
        const sent = await connection.flood(300, SWALLOWED_BYTES);
        assertLess(sent, SWALLOWED_BYTES, `${head} ${framing}`);
        await until(() => connection.received !== "");
        assertStringIncludes(connection.received, `HTTP/1.1 ${status} `, `${head} ${framing}`);
      }
    }
  },
);

testOnServer(
  "the server ends a connection whose body is late, whatever follows",
  async (service, port) => {
    const framings = [
      `Content-Length: 29\r\n\r\n${REX.slice(0, 9)}`,
      `Transfer-Encoding: chunked\r\n\r\n9\r\n${REX.slice(0, 9)}\r\n`,
      "Transfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n{",
    ];
    const expectEnd = async (framing: string) => {
      using connection = await connect(port);
      await connection.write(postHead(service) + framing);
      const { runtime } = service;
      if (runtime !== undefined) {
        await until(() => runtime.waits().includes(BODY_LIMIT_MS));
        await runtime.advance(BODY_LIMIT_MS);
      }
      const response = await connection.answer();
      assertStringIncludes(response, "HTTP/1.1 408 ");
      assertStringIncludes(response.toLowerCase(), "\r\nconnection: close\r\n");
      assertStringIncludes(response, '"code":"request_timeout"');
      // Later bytes are neither the rest of the body nor another request.
      const another = `${postHead(service)}Content-Length: 29\r\n\r\n${REX}`;
      await connection.write(`${REX.slice(9)}\r\n${another}`);
      assertEquals(await connection.rest(), "");
      assertLess(await connection.flood(300, SWALLOWED_BYTES), SWALLOWED_BYTES);
    };
    // A process has its own clock, and lets each of them wait.
    if (service.runtime === undefined) await Promise.all(framings.map(expectEnd));
    else for (const framing of framings) await expectEnd(framing);
  },
);

testOnServer(
  "the server refuses an incomplete body, and contradictory or malformed headers",
  async (service, port) => {
    const framings = [
      `Content-Length: 29\r\n\r\n${REX.slice(0, 9)}`,
      `Content-Length: 29\r\nContent-Length: 28\r\n\r\n${REX}`,
      `Content-Length: 29\r\nContent-Length: 29\r\n\r\n${REX}`,
      `Content-Length: 29\r\nTransfer-Encoding: chunked\r\n\r\n1d\r\n${REX}\r\n0\r\n\r\n`,
      `Content-Length: -1\r\n\r\n${REX}`,
      `Content-Length: 99999999999999999999\r\n\r\n${REX}`,
      `Transfer-Encoding: identity\r\nContent-Length: 29\r\n\r\n${REX}`,
      `Transfer-Encoding: chunked\r\n\r\nzz\r\n${REX}\r\n0\r\n\r\n`,
      `Content-Length: 29\r\nContent-Type: text/plain\r\n\r\n${REX}`,
      `Content-Length: 29\r\nAuthorization: Bearer ${service.token}\r\n\r\n${REX}`,
      `Content-Length: 29\r\nBroken header\r\n\r\n${REX}`,
      `Content-Length: 29\r\nX-Null: a\0b\r\n\r\n${REX}`,
    ];
    for (const framing of framings) {
      using connection = await connect(port);
      await connection.write(postHead(service) + framing);
      await connection.closeWrite();
      const response = await connection.answer();
      assert(response === "" || /^HTTP\/1\.1 4\d\d /.test(response), `${framing}: ${response}`);
    }
    assertEquals(lastPetIdOf((await service.heads.fresh()).head), 0);
    const failures = service.reports.filter(([, event]) => event !== "credentials_refused");
    assertEquals(failures, []);
  },
);

testOnServer(
  "a finite body of a refused request does not leave the connection hanging",
  async (_, port) => {
    for (const length of [2, BODY_LIMIT_BYTES, BODY_LIMIT_BYTES + 1, 300_000]) {
      using connection = await connect(port);
      const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n`;
      await connection.write(head);
      await until(() => connection.received.includes("HTTP/1.1 401 "));
      await connection.write("x".repeat(length));
      // The next request on the connection gets a response, or the client sees that the connection has ended.
      await connection.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
      await until(() => connection.ended || connection.received.includes("HTTP/1.1 200 "));
    }
  },
);

testOnProcess(
  "the server closes the file descriptors of connections with unread bodies",
  [],
  async (service, port, token) => {
    const descriptors = () => [...Deno.readDirSync(`/proc/${service.pid}/fd`)].length;
    const before = descriptors();
    for (const authorization of ["", `Authorization: Bearer ${token}\r\n`]) {
      for (const framing of Object.values(ENDLESS)) {
        await Promise.all(Array.from({ length: 20 }, async () => {
          using connection = await connect(port);
          await connection.write(
            "POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n" +
              authorization + framing,
          );
          await connection.flood(100, SWALLOWED_BYTES);
        }));
      }
    }
    await until(() => descriptors() <= before + 2);
  },
);

testOnServer(
  "the server takes the path from the request line, whatever the Host is",
  async (service, port) => {
    const key = `Authorization: Bearer ${service.token}\r\n`;
    const cases: [status: number, head: string][] = [
      [400, `GET /v1/pets HTTP/1.1\r\nHost: x/healthz?\r\n${key}`],
      [400, "GET /healthz HTTP/1.1\r\nHost: x/v1/pets?\r\n"],
      [400, "GET /healthz HTTP/1.1\r\nHost:\r\n"],
      // Checks of load balancers have no Host.
      [200, "GET /healthz HTTP/1.0\r\n"],
      // The store of the process is a file.
      [IS_ON_NODE ? 200 : 503, "GET /readyz HTTP/1.0\r\n"],
      [204, "OPTIONS /readyz HTTP/1.0\r\n"],
      [204, "OPTIONS / HTTP/1.0\r\n"],
      [400, `GET /v1/pets HTTP/1.0\r\n${key}`],
      [400, `GET /v1/pets HTTP/1.1\r\n${key}`],
      [400, "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: a\r\n"],
      [200, "GET /healthz HTTP/1.1\r\nHost: a\r\n"],
      [200, "GET /healthz HTTP/1.1\r\nHost: [::1]:8000\r\n"],
      [200, "GET http://other/healthz HTTP/1.1\r\nHost: a\r\n"],
      [401, "GET http://other/v1/pets?x=/healthz HTTP/1.1\r\nHost: a\r\n"],
      [302, "GET http://other?x=/healthz HTTP/1.1\r\nHost: a\r\n"],
      [401, "GET //x/healthz HTTP/1.1\r\nHost: a\r\n"],
      [405, "CONNECT x:1 HTTP/1.1\r\nHost: a\r\n"],
    ];
    for (const [status, head] of cases) {
      using connection = await connect(port);
      await connection.write(`${head}\r\n`);
      await until(() => connection.received !== "" || connection.ended);
      assertMatch(connection.received, new RegExp(`^HTTP/1\\.[01] ${status} `), head);
    }
    using connection = await connect(port);
    const target = "http://evil.example>/v1/pets/1";
    await connection.write(`GET ${target} HTTP/1.1\r\nHost: shop.example\r\n${key}\r\n`);
    // Node itself refuses such a target.
    const expected = IS_ON_NODE ? "HTTP/1.1 400 " : "link: <http://shop.example/v1/pets?";
    assertStringIncludes(await connection.answer(), expected);
  },
);

testOnServer(
  "the server reads a body in chunks, also of parts of characters",
  async ({ token }, port) => {
    const bytes = utf8('{"name":"Zoë 🐈","categoryId":1}');
    const added = await fetch(`http://127.0.0.1:${port}/v1/pets`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: ReadableStream.from(Array.from(bytes, (byte) => Uint8Array.of(byte))),
    });
    assertEquals([added.status, (await added.json()).name], [201, "Zoë 🐈"]);
  },
);

testOnServer(
  "the Content-Length of HEAD, if it has one, is that of the body of GET",
  async ({ add, token }, port) => {
    await (await add(REX)).body?.cancel();
    const headers = { authorization: `Bearer ${token}` };
    for (const path of ["/v1/pets", "/v1/pets?limit=0", "/v1/events", "/v1/none"]) {
      const address = `http://127.0.0.1:${port}${path}`;
      const body = await (await fetch(address, { headers })).bytes();
      const head = await fetch(address, { method: "HEAD", headers });
      await head.body?.cancel();
      const length = head.headers.get("content-length");
      assert(length === null || Number(length) === body.length, path);
    }
  },
);

testOnServer(
  "the server resolves no dot segments, encoded or not",
  async ({ token }, port) => {
    const targets = ["pets/../pets", "pets/%2E%2E/pets", "./pets", "%2e/pets", "pets/%2E"];
    for (const target of targets) {
      using connection = await connect(port);
      await connection.write(
        `GET /v1/${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`,
      );
      assertMatch(await connection.answer(), /^HTTP\/1\.1 404 /, target);
    }
  },
);

testOnServer(
  "the server refuses a target with characters that are not encoded",
  async ({ token }, port) => {
    for (
      const target of ["/v1/pets?name=Zoë", "/v1/pets/ë", "/ë", "/docs?ë", "http://a/v1/pets?ë"]
    ) {
      for (const method of ["GET", "DELETE"]) {
        using connection = await connect(port);
        const head =
          `${method} ${target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`;
        await connection.write(`${head}\r\n`);
        const response = await connection.answer();
        assertMatch(response, /^HTTP\/1\.1 400 /, target);
        assertStringIncludes(response, '"code":"malformed_request"');
      }
    }
    // On Deno, bytes that are not UTF-8 never reach the service.
    for (const target of ["/v1/pets?name=Zo\xeb", "/v1/pets/\xeb"]) {
      using connection = await connect(port);
      const head = `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
      await connection.write(Uint8Array.from(head, (character) => character.charCodeAt(0)));
      await until(() => connection.received !== "");
      assertMatch(connection.received, /^HTTP\/1\.1 400 /);
    }
  },
);

testOnServer(
  "a connection gets the responses to all requests of a packet, in their order",
  async (_, port) => {
    using connection = await connect(port);
    const paths = ["/healthz", "/v1/pets", "/nothing", "/docs", "/healthz"];
    const burst = Array.from({ length: 200 }, (_, index) => paths[index % paths.length]);
    const requests = burst.map((path) => `HEAD ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await connection.write(requests.join(""));
    const statuses = () =>
      [...connection.received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((it) => it[1]);
    await until(() => statuses().length === burst.length);
    const expected: Record<string, string> = { "/healthz": "200", "/docs": "200" };
    assertEquals(statuses(), burst.map((path) => expected[path] ?? "401"));
  },
);

testOnServer(
  "a request that was begun gets its own response, whatever follows it",
  async (service, port) => {
    const post = `${postHead(service)}Content-Length: 29\r\n\r\n${REX}`;
    const last = post.replace("\r\n", "\r\nConnection: close\r\n");
    const old = post.replace("HTTP/1.1", "HTTP/1.0");
    const get = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
    const long = `GET /healthz HTTP/1.1\r\nHost: a\r\nX: ${"x".repeat(70_000)}\r\n\r\n`;
    const cases: [statuses: number[], begun: string, following: string][] = [
      [[201], post, "\0"],
      [[201], post, "x"],
      [[201], post, long],
      [[201], post, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
      [[201], last, "\0"],
      [[201], last, post],
      [[201], old, post],
      [[201, 200], post + get, "\0"],
      [[200, 201, 200], get + post + get, "GET"],
      [[201, 405], post, "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ];
    let stored = 0;
    for (const [statuses, begun, following] of cases) {
      for (const isOnePacket of [true, false]) {
        using connection = await connect(port);
        await connection.write(isOnePacket ? begun + following : begun);
        if (!isOnePacket) await connection.write(following);
        const found = () =>
          [...connection.received.matchAll(/HTTP\/1\.[01] (\d+) /g)].map((it) => Number(it[1]));
        await until(() => connection.ended || found().length >= statuses.length);
        assertEquals(found().slice(0, statuses.length), statuses, `${begun}${following}`);
        stored += statuses.filter((it) => it === 201).length;
      }
    }
    // Nothing was begun whose response could not be sent any more.
    assertEquals(lastPetIdOf((await service.heads.fresh()).head), stored);
    assertEquals(service.reports, []);
  },
);

testOnServer(
  "the connection of a client that waits to continue ends after a response that needs no body",
  async (service, port) => {
    const key = `Authorization: Bearer ${service.token}\r\n`;
    const json = "Content-Type: application/json\r\n";
    const cases: [status: number, head: string][] = [
      [401, `POST /v1/pets HTTP/1.1\r\n${json}`],
      [415, `POST /v1/pets HTTP/1.1\r\n${key}`],
      [405, `PUT /v1/pets HTTP/1.1\r\n${key}${json}`],
      [404, `POST /v1/nothing HTTP/1.1\r\n${key}${json}`],
      [204, "OPTIONS /healthz HTTP/1.1\r\n"],
    ];
    for (const [status, head] of cases) {
      using connection = await connect(port);
      const sentAt = performance.now();
      await connection.write(
        `${head}Host: a\r\nExpect: 100-Continue\r\nContent-Length: 29\r\n\r\n`,
      );
      await until(() => connection.ended, head);
      assertLess(performance.now() - sentAt, 5_000, head);
      assertStringIncludes(connection.received, `HTTP/1.1 ${status} `);
      assertStringIncludes(connection.received.toLowerCase(), "\r\nconnection: close\r\n");
    }
  },
);

testOnServer(
  "a request that follows one with Upgrade is answered, or the connection is closed",
  async (_, port) => {
    using connection = await connect(port);
    const upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n";
    const request = "GET /healthz HTTP/1.1\r\nHost: a\r\n";
    await connection.write(`${request}${upgrade}\r\n${request}\r\n`);
    const responses = () => connection.received.split("HTTP/1.1 200 ").length - 1;
    await until(() => responses() === 2 || connection.ended && responses() === 1);
  },
);

testOnServer("the server knows the address of a client", async (service, port) => {
  using connection = await connect(port);
  const path = `/v1/pets/${service.token}`;
  const key = service.token.replace(/.$/, "x");
  await connection.write(
    `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n` +
      `X-Forwarded-For: for ${service.token}\r\n\r\n`,
  );
  assertStringIncludes(await connection.answer(), "HTTP/1.1 401 ");
  const details = { address: "127.0.0.1", forwardedFor: "for pets_…" };
  assertEquals(service.reports, [["warn", "credentials_refused", details]]);
});

testOnDeno(
  "the server waits for all handlers at its shutdown, but not for a client that does not read",
  async () => {
    const runtime = new FakeRuntime();
    const { promise: handled, resolve: onHandled } = Promise.withResolvers<void>();
    const endless = new ReadableStream({ pull: (it) => it.enqueue(new Uint8Array(65_536)) });
    let requests = 0;
    const handler: RequestHandler = async ({ path }) => {
      requests++;
      if (path === "/stream") return { status: 200, headers: {}, body: endless };
      await handled;
      return { status: 200, headers: {}, body: "{}" };
    };
    const server = await Server.listen({
      hostname: "127.0.0.1",
      port: 0,
      handler,
      runtime,
      report() {},
    });
    {
      using stalled = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
      await stalled.write(new TextEncoder().encode("GET /stream HTTP/1.1\r\nHost: a\r\n\r\n"));
      using late = await connect(server.addr.port);
      await late.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
      await until(() => requests === 2);
      let isOver = false;
      const over = server.shutdown().then(() => isOver = true);
      await runtime.advance(60_000);
      assertEquals(isOver, false);
      onHandled();
      assertStringIncludes(await late.answer(), "HTTP/1.1 200 ");
      await runtime.advance(1_000);
      assertEquals(isOver, true);
      await over;
    }
    await server.shutdown();
  },
);

testOnDeno("the server limits bodies over HTTP/2, too", async () => {
  await using service = await openTestService();
  await using server = await serveOnSocket(service);
  const { port } = server;
  const send = (body: string, headers: Record<string, string> = {}) =>
    postOverHttp2(port, { authorization: `Bearer ${service.token}`, ...headers }, body);
  // The server resets a stream whose Content-Length is malformed or too small.
  for (const wrong of ["29, 29", "3"]) {
    assertEquals(await send(REX, { "content-length": wrong }), "");
  }
  const tooLarge = await send(REX.padEnd(BODY_LIMIT_BYTES + 1));
  assertStringIncludes(tooLarge, '"code":"body_too_large"');
  assertEquals(await send(REX, { "content-length": "29" }), `{"id":1,${REX.slice(1)}`);
});

testOnDeno(
  "a client that goes away follows and waits no more, over HTTP/1.1 and HTTP/2",
  async () => {
    let followers: Gauges["followers"] = () => NaN;
    const observe = (gauges: Gauges) => void (followers = gauges.followers);
    const instrumentation = { ...NO_INSTRUMENTATION, observe };
    await using service = await openTestService({ instrumentation });
    await using server = await serveOnSocket(service);
    const headers = { accept: "text/event-stream", authorization: `Bearer ${service.token}` };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    const http1 = await connect(server.port);
    await http1.write(`GET /v1/events HTTP/1.1\r\nHost: localhost\r\n${lines.join("")}\r\n`);
    const waiting = await connect(server.port);
    await waiting.write(
      "GET /v1/events?lastEventId=now&timeout=30000&type=PetUpdated HTTP/1.1\r\n" +
        `Host: localhost\r\n${lines[1]}\r\n`,
    );
    const client = http2.connect(`http://127.0.0.1:${server.port}`);
    const stream = client.request({ ":path": "/v1/events", ...headers });
    let received = "";
    stream.setEncoding("utf8").on("data", (data) => received += data).on("error", () => {});
    await until(() => followers() === 3);
    waiting[Symbol.dispose]();
    await until(() => followers() === 2);
    await service.add(REX);
    await until(async () => {
      await service.runtime.advance(100);
      return [http1.received, received].every((text) => text.includes("\nevent: PetCreated\n"));
    });
    http1[Symbol.dispose]();
    await until(() => followers() === 1);
    stream.close(http2.constants.NGHTTP2_CANCEL);
    await until(() => followers() === 0);
    client.destroy();
  },
);

/** The beginning of a request that adds a pet. */
function postHead({ token }: Pick<TestService, "token">): string {
  return "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
    `Authorization: Bearer ${token}\r\n`;
}

/** Sends a POST over clear-text HTTP/2, and resolves to the body of the response, up to a reset of the stream. */
async function postOverHttp2(port: number, headers: Record<string, string>, body: string) {
  const client = http2.connect(`http://127.0.0.1:${port}`);
  const request = client.request({
    ":method": "POST",
    ":path": "/v1/pets",
    "content-type": "application/json",
    ...headers,
  });
  let text = "";
  request.setEncoding("utf8").on("data", (data) => text += data).on("error", () => {});
  request.end(body);
  await new Promise((resolve) => request.on("end", resolve).on("close", resolve));
  client.destroy();
  return text;
}
