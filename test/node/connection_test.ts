import { assertEquals, assertGreater, assertLess, assertMatch } from "@std/assert";
import { once } from "node:events";
import { connect } from "node:net";
import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { freePort } from "../support/free_port.ts";
import { startOnNode } from "../support/node_service.ts";
import { BUILT_PROGRAM } from "../support/programs.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(BUILT_PROGRAM);

const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";

test("On Node, what its server treats in a way of its own gets the responses of the service", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await startOnNode(temp.kvPath);
  const { hostname, port } = new URL(service.address);
  for (let count = 0; count < 50; count++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(CONNECT);
    if (count % 2 === 0) await new Promise((resolve) => setTimeout(resolve, count % 20));
    socket.resetAndDestroy();
  }
  assertEquals((await exchange(service.address, CONNECT)).status, 405);
  const expecting = "GET /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n";
  const { status, body } = await exchange(service.address, expecting);
  assertEquals([status, JSON.parse(body).code], [401, "missing_credentials"]);

  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
  const unread = { method: "DELETE", headers: { "content-type": "application/json" }, body: "{}" };
  assertEquals((await service.send("/v1/pets/1", token, unread)).status, 204);
  const gone = await service.send("/v1/pets/1", token, { method: "DELETE" });
  assertEquals(gone.status, 404);
  await gone.body?.cancel();
});

const GET = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";

test("On Node, no target of a request ends the process", async () => {
  await using temp = await TempStore.make();
  const METRICS_PORT = String(freePort());
  await using service = await startOnNode(temp.kvPath, { METRICS_PORT });
  for (const address of [service.address, `http://127.0.0.1:${METRICS_PORT}`]) {
    for (const target of ["*x:y://z", "*?a:b://c", "*:a://", "*"]) {
      const request = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const { status } = await exchange(address, request);
      assertMatch(`${target} ${status}`, / 4\d\d$/);
    }
  }
  assertEquals(await service.stop(), 0, service.lines.join("\n"));
});

test("On Node, nothing begins after a last response", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await startOnNode(temp.kvPath);
  const key = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  const post = (headers: string) =>
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${key}${headers}Content-Length: 29\r\n\r\n` +
    '{"name":"Rex","categoryId":1}';
  const refused = `POST /v1/pets HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`;
  for (const following of [post(""), refused, GET + refused, `${post("")}\0`]) {
    const { text } = await exchange(service.address, post("Upgrade: a\r\n") + following);
    assertMatch(text, /^HTTP\/1\.1 201 (?!.*HTTP\/1\.1)/s);
  }
  assertEquals(await temp.use(async ({ heads }) => lastPetIdOf((await heads.fresh()).head)), 4);
  assertEquals(service.lines.filter((line) => !line.includes('"listening"')), []);
});

test("On Node, a client that ends its side, or sends what is not HTTP, gets the responses to all that it sent", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await startOnNode(temp.kvPath);
  const key = `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
  const head = `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${key}Content-Length: 29\r\n\r\n`;
  const post = `${head}{"name":"Rex","categoryId":1}`;
  const events = `GET /v1/events?lastEventId=now&timeout=30000 HTTP/1.1\r\nHost: a\r\n${key}\r\n`;
  const cases: [statuses: string[], sent: string][] = [
    [["201"], post],
    [["200", "201", "200"], GET + post + GET],
    [["400"], `${head}{"na`],
    [["201", "400"], `${post}GET /hea`],
    // It waits for no event.
    [["200"], events],
    [["200", "400"], `${events}\0`],
  ];
  for (const [statuses, sent] of cases) {
    const begunAt = performance.now();
    const { text } = await exchange(service.address, sent, "and ends its side");
    const found = [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status);
    assertEquals(found, statuses, sent);
    assertLess(performance.now() - begunAt, 5_000);
  }
});

test("On Node, a long response before CONNECT arrives whole", async () => {
  await using temp = await TempStore.make();
  await using service = await startOnNode(temp.kvPath);
  const script = "GET /docs/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n";
  const { text } = await exchange(service.address, script + CONNECT);
  const [, length] = /content-length: (\d+)/i.exec(text)!;
  assertGreater(new TextEncoder().encode(text).length, Number(length));
  assertMatch(text, /HTTP\/1\.1 405 [^]*"code":"method_not_allowed"[^]*}$/);
});

/** Sends a request, and reads until the service ends the connection. */
async function exchange(
  address: string,
  request: string,
  end?: "and ends its side" | "and reads late",
) {
  const { hostname, port } = new URL(address);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(request));
  if (end !== undefined) await socket.closeWrite();
  const text = await new Response(socket.readable).text();
  const [head, body] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body, text };
}
