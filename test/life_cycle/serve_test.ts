import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { serve } from "../../src/life_cycle/serve.ts";
import { ForeignStoreError } from "../../src/eventstore_less/log/head.ts";
import { HeadReader } from "../../src/eventstore_less/log/head_reader.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import type { LocatedConfig } from "../../src/settings/config.ts";
import { OpenStoreError } from "../../src/eventstore_less/store/open_store_error.ts";
import { LoadClient } from "../support/load_client.ts";
import { connect } from "../support/raw_connection.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { PROCESSES, testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";

const test = testNeeding(PROCESSES);

test("serve() on SIGTERM answers 503 to an incomplete body, and ends", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const port = Number(new URL(service.address).port);
  using idle = await connect(port);
  using slow = await connect(port);
  await idle.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  assertMatch(await idle.answer(), /^HTTP\/1.1 200 /);
  await slow.write(
    "POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      `Authorization: Bearer ${token}\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n{`,
  );
  // The service is reading the body.
  await until(() => slow.received.includes("100 Continue"));
  const ending = service.stop();
  assertMatch(await slow.answer(), /\nHTTP\/1.1 503 [^]*"code":"shutting_down"/);
  assertEquals(await ending, 0);
  await temp.use(async ({ heads }) => assertEquals(lastPetIdOf((await heads.fresh()).head), 0));
});

test("serve() on SIGTERM under load finishes accepted requests and ends with exit code 0", async () => {
  await using temp = await TempStore.make();
  const token = await temp.issueApiKey();
  await using service = await ServiceProcess.start(temp.kvPath);
  const services = () => [service];
  const load = new LoadClient({ services, token, connections: 64, faults: "process" });
  let stopped: Promise<number> | undefined;
  await load.run(() => {
    if (load.acknowledged.size >= 300) stopped ??= service.stop();
    return stopped !== undefined;
  });
  assertEquals(await stopped, 0);
  await temp.use(async (operator) => {
    await load.expectLogged(operator);
    const lastPetId = lastPetIdOf((await operator.heads.fresh()).head);
    assertEquals(lastPetId, load.acknowledged.size, "every stored pet was acknowledged");
  });
  const events = service.lines.map((line) => JSON.parse(line).event);
  assertEquals(events, ["listening", "shutting_down", "stopped"]);
});

test("serve() ends with the error as the last line if a store that was away for long refuses the password", async () => {
  await using server = await startRefusing();
  const host = `127.0.0.1:${server.port}`;
  const url = `postgres://operator:wrong@${host}/pets?sslmode=disable`;
  await using service = await ServiceProcess.start(url);
  assertEquals(await service.ended(), 2);
  const refusal = `${host}: it refuses the password of the role operator`;
  assertEquals(
    service.lines.at(-1),
    `error: Cannot open the database pets on ${host} (DATABASE_URL): ${refusal}`,
  );
});

/** Longer than calls wait for a store before it counts as away, which the service logs. In milliseconds. */
const REFUSAL_MS = 800;

/** The message of PostgreSQL that ends a connection with a wrong password. */
const FIELDS = "SFATAL\0VFATAL\0C28P01\0Mwrong password\0\0";
const REFUSAL = Buffer.from(`E\0\0\0${String.fromCharCode(4 + FIELDS.length)}${FIELDS}`, "latin1");

/** A server that closes the first connection, as if it was away, and refuses the password of the others. */
async function startRefusing() {
  let connections = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    connections++;
    if (connections === 1) socket.destroy();
    else socket.once("data", () => setTimeout(() => socket.end(REFUSAL), REFUSAL_MS));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const close = async () => {
    server.close();
    await once(server, "close");
  };
  return { port: (server.address() as AddressInfo).port, [Symbol.asyncDispose]: close };
}

Deno.test("serve() refuses to start by a clock beyond the year 9999", async () => {
  using _ = stub(Date, "now", () => Date.UTC(12_345, 0));
  const message = "says year 12345, which cannot be right";
  await assertRejects(() => serve(CONFIG), ServiceError, message);
});

// The service, which the process would end, keeps its server and its store open.
Deno.test({
  name: "serve() rejects if its first read of a file finds the data of another program",
  permissions: "inherit",
  ignore: !PROCESSES.isMet,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await using temp = await TempStore.make();
    await temp.issueApiKey();
    const foreign = () => Promise.reject(new ForeignStoreError("store_unavailable", "theirs"));
    using _ = stub(HeadReader.prototype, "fresh", foreign);
    const store = { kind: "file", path: temp.kvPath, isDefault: false } as const;
    await assertRejects(() => serve({ ...CONFIG, store }), OpenStoreError, "theirs");
  },
});

const CONFIG: LocatedConfig = {
  store: { kind: "memory" },
  makesStore: true,
  hostname: "127.0.0.1",
  port: 0,
  processes: 1,
  processNumber: undefined,
  supervisor: undefined,
  metrics: undefined,
  accessLog: false,
  trustedProxies: undefined,
  webhookAllow: undefined,
  webhookKeys: undefined,
  corsOrigins: [],
  rateLimit: undefined,
  publicUrl: undefined,
  stagingUrl: undefined,
};
