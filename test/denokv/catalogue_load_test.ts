import { assertEquals, assertGreater } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import { freePort } from "../support/free_port.ts";
import { runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { CatalogueLoad, type Faults, openOperator } from "./catalogue_load.ts";
import { CuttingProxy } from "./cutting_proxy.ts";
import { denokvProgram, DenokvServer } from "./denokv_server.ts";

/** A minute and more is for whoever has it: `LOAD_SECONDS=60 deno task test:denokv`. */
const LOAD_MS = secondsOfEnvironment() * 1_000;

const INSTANCES = 4;
const CLIENTS = 64;

const ignore = denokvProgram() === undefined;

Deno.test({
  name: "4 instances answer 64 clients as one would, and agree on keys and pets at every moment",
  ignore,
  async fn() {
    await using fixture = await openFixture();
    const load = fixture.load("none");
    await load.run();
    await load.verifyLog();
    await fixture.expectSoundAudit();
    console.log(load.counts);
    assertGreater(load.counts.created, LOAD_MS / 100);
    assertGreater(load.counts.keysRevoked, 0);
  },
});

Deno.test({
  name: "instances and store are killed and stopped: what was acknowledged is there, once",
  ignore,
  async fn() {
    await using fixture = await openFixture();
    const { server } = fixture;
    const load = fixture.load("kills", Math.max(LOAD_MS, 15_000));
    let isOver = false;
    const faults = [
      () => fixture.restart(Math.floor(Math.random() * INSTANCES)),
      async () => {
        await server.kill();
        await sleep(500);
        await server.start();
      },
      async () => {
        server.pause();
        await sleep(LOAD_MS < 30_000 ? 3_000 : 5_000 + Math.random() * 15_000);
        server.resume();
      },
    ];
    const breaking = async () => {
      for (let round = 0; !isOver; round++) {
        await sleep(1_000);
        // Each kind once, and then by chance.
        await faults[round < faults.length ? round : Math.floor(Math.random() * faults.length)]();
      }
    };
    const broken = breaking();
    try {
      await load.run();
    } finally {
      isOver = true;
      await broken;
    }
    await load.verifyLog();
    await fixture.expectSoundAudit();
    console.log(load.counts);
    assertGreater(load.counts.created, 0);
    assertGreater(load.counts.unclear, 0);
  },
});

Deno.test({
  name: "connections are cut between a commit and its answer: no pet twice, and nobody told wrong",
  ignore,
  async fn() {
    await using server = await DenokvServer.start();
    using proxy = new CuttingProxy(server.port, 0);
    await using fixture = await openFixture(server, proxy.address);
    const load = fixture.load("cuts");
    proxy.share = 0.05;
    await load.run();
    proxy.share = 0;
    await load.verifyLog();
    await fixture.expectSoundAudit();
    console.log({ cuts: proxy.cuts, ...load.counts });
    assertGreater(proxy.cuts, LOAD_MS / 1_000);
    const { created, refused, unclear } = load.counts;
    assertGreater(created, 20 * (refused + unclear));
  },
});

/** Instances on a store of their own, or on that one, which they reach at that address. */
async function openFixture(given?: DenokvServer, address = given?.address) {
  const server = given ?? await DenokvServer.start();
  const operator = await openOperator(server);
  const { token } = await issueKey(operator, { label: "load" });
  const ports = Array.from({ length: INSTANCES }, freePort);
  const start = (port: number) =>
    ServiceProcess.start(address ?? server.address, {
      DENO_KV_ACCESS_TOKEN: server.token,
      PORT: String(port),
    });
  const services = await Promise.all(ports.map(start));
  const addresses = services.map(({ address }) => address);
  return {
    server,
    services,
    load: (faults: Faults, ms = LOAD_MS) =>
      new CatalogueLoad(operator, token, { addresses, clients: CLIENTS, ms, faults }),
    /** Kills one of the instances and starts it again at its port. */
    async restart(index: number) {
      await services[index].stop("SIGKILL");
      services[index] = await start(ports[index]);
    },
    async expectSoundAudit() {
      const env = { DENO_KV_ACCESS_TOKEN: server.token };
      const { code, stdout, stderr } = await runTask(["audit"], { kvPath: server.address, env });
      assertEquals(code, 0, stdout + stderr);
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service[Symbol.asyncDispose]();
      operator[Symbol.dispose]();
      if (given === undefined) await server[Symbol.asyncDispose]();
    },
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function secondsOfEnvironment(): number {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "LOAD_SECONDS" });
  return Number(state === "granted" && Deno.env.get("LOAD_SECONDS") || 5);
}
