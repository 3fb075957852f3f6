import { lastPetIdOf } from "../../src/animals/pet_counts.ts";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { stub } from "@std/testing/mock";
import { Buffer } from "node:buffer";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { serve } from "../../src/life_cycle/serve.ts";
import { ServiceError } from "../../src/eventstore_less/service_error.ts";
import type { ServiceConfig } from "../../src/settings/config.ts";
import { LoadClient } from "../support/load_client.ts";
import { freePort } from "../support/free_port.ts";
import { connect } from "../support/raw_connection.ts";
import { commandOf, ON_DENO } from "../support/programs.ts";
import { samplesOf } from "../support/samples_of.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { childrenOf } from "../support/store_server.ts";
import { TempStore } from "../support/temp_store.ts";
import { LINUX, PROCESSES, testNeeding } from "../support/test_needing.ts";
import { until } from "../support/until.ts";
import { ROOT } from "../support/with_project_copy.ts";

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

testNeeding(PROCESSES, ON_DENO)(
  "src/main.ts serves on after the end of the shell that started it",
  async () => {
    await using temp = await TempStore.make();
    const inBackground = ["sh", "-c", `${Deno.execPath()} run --allow-all "$0" & wait`];
    await using shell = await ServiceProcess.start(temp.kvPath, {}, inBackground);
    const [service] = childrenOf(shell.pid);
    Deno.kill(shell.pid, "SIGKILL");
    // A process that ends with its parent looks for it every second.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assertEquals(await statusOf(`${shell.address}/healthz`), 200);
    Deno.kill(service, "SIGTERM");
    await shell.ended();
  },
);

testNeeding(PROCESSES, LINUX)(
  "serve() in a process that waits until it is ready counts neither requests nor errors",
  async () => {
    // Another process of the port is ready, so this one never listens: a store in memory is not ready.
    const options = { hostname: "127.0.0.1", port: 0, reusePort: true, onListen() {} };
    await using other = Deno.serve(options, () => new Response());
    const metricsPort = freePort();
    const [program, ...args] = commandOf("start");
    await using process = new Deno.Command(program, {
      args,
      cwd: ROOT,
      env: {
        HOST: "127.0.0.1",
        PORT: String(other.addr.port),
        KV_PATH: ":memory:",
        METRICS_PORT: String(metricsPort),
        SUPERVISED_PROCESS: "1",
      },
      stderr: "null",
    }).spawn();
    const scrape = () => fetch(`http://127.0.0.1:${metricsPort}/metrics`).catch(() => undefined);
    await until(async () => {
      const response = await scrape();
      await response?.body?.cancel();
      return response !== undefined;
    });
    // It asks every second whether it is ready.
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const samples = [...samplesOf(await (await scrape())!.text())];
    const counted = samples.filter(([name, value]) =>
      /_errors_total|_request_duration_seconds_count/.test(name) && value > 0
    );
    assertEquals(counted, []);
    assertEquals(samples.find(([name]) => name === "animal_store_ready")?.[1], 0);
    process.kill();
    assertEquals((await process.status).code, 0);
  },
);

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

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
}

Deno.test("serve() refuses to start by a clock beyond the year 9999", async () => {
  using _ = stub(Date, "now", () => Date.UTC(12_345, 0));
  const config: ServiceConfig = {
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
    corsOrigins: [],
    rateLimit: undefined,
    publicUrl: undefined,
    stagingUrl: undefined,
  };
  await assertRejects(() => serve(config), ServiceError, "says year 12345, which cannot be right");
});
