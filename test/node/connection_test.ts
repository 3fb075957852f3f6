import { assertEquals } from "@std/assert";
import { once } from "node:events";
import { connect } from "node:net";
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

/** Sends a request, and reads until the service ends the connection. */
async function exchange(address: string, request: string) {
  const { hostname, port } = new URL(address);
  const socket = await Deno.connect({ hostname, port: Number(port) });
  await socket.write(new TextEncoder().encode(request));
  const text = await new Response(socket.readable).text();
  const [head, body] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}
