import { assertEquals, assertLess } from "@std/assert";
import { once } from "node:events";
import { connect } from "node:net";
import { startOnNode } from "../support/node_service.ts";
import { BUILT_PROGRAM } from "../support/programs.ts";
import { TempStore } from "../support/temp_store.ts";
import { testNeeding } from "../support/test_needing.ts";

const test = testNeeding(BUILT_PROGRAM);

const CONNECT = "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n";

test("On Node, clients that reset a connection after CONNECT do not end the service", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await startOnNode(temp.kvPath);
  const { hostname, port } = new URL(service.address);
  for (let count = 0; count < 200; count++) {
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(CONNECT);
    if (count % 2 === 0) await new Promise((resolve) => setTimeout(resolve, count % 20));
    socket.resetAndDestroy();
  }
  assertEquals(await service.add({ name: "Rex", categoryId: 1 }, token), 201);
});

test("On Node, the connection of a CONNECT ends after the response, and another expectation gets an Error", async () => {
  await using temp = await TempStore.make();
  await using service = await startOnNode(temp.kvPath);
  assertEquals((await exchange(service.address, CONNECT)).status, 405);
  const expecting = "GET /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n";
  const { status, body } = await exchange(service.address, expecting);
  assertEquals([status, JSON.parse(body).code], [401, "missing_credentials"]);
});

test("On Node, packets full of requests take little memory while their clients do not read", async () => {
  await using temp = await TempStore.make();
  await using service = await startOnNode(temp.kvPath);
  const { hostname, port } = new URL(service.address);
  // The description for the first host is always kept.
  await (await fetch(`${service.address}/openapi.json`)).body?.cancel();
  const request = "GET /openapi.json HTTP/1.1\r\nHost: shop.example\r\n\r\n";
  const burst = new TextEncoder().encode(request.repeat(65_536 / request.length));
  const beforeMiB = residentMiB(service.pid);
  const connections = await Promise.all(Array.from({ length: 10 }, async () => {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(burst);
    return connection;
  }));
  let mostMiB = 0;
  for (let look = 0; look < 20; look++) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    mostMiB = Math.max(mostMiB, residentMiB(service.pid));
  }
  for (const connection of connections) connection.close();
  assertLess(mostMiB - beforeMiB, 150);
});

/** The resident memory of a process, in MiB. */
function residentMiB(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
}

/** Sends a request, and reads until the service ends the connection. */
async function exchange(address: string, request: string) {
  const { hostname, port } = new URL(address);

  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(request));
  const text = await new Response(socket.readable).text();
  const [head, body] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}
