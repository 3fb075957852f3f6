import { assertEquals, assertGreater } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import { freePort } from "../free_port.ts";
import { runTask } from "../run_task.ts";
import { ServiceProcess } from "../service_process.ts";
import { CatalogueLoad, openOperator } from "./catalogue_load.ts";
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
    const load = fixture.load({ hasFaults: false });
    await load.run();
    await load.verifyLog();
    await fixture.expectSoundAudit();
    console.log(load.counts);
    assertGreater(load.counts.created, LOAD_MS / 100);
    assertGreater(load.counts.keysRevoked, 0);
  },
});

async function openFixture() {
  const server = await DenokvServer.start();
  const operator = await openOperator(server);
  const { token } = await issueKey(operator, { label: "load" });
  const ports = Array.from({ length: INSTANCES }, freePort);
  const start = (port: number) =>
    ServiceProcess.start(server.address, {
      DENO_KV_ACCESS_TOKEN: server.token,
      PORT: String(port),
    });
  const services = await Promise.all(ports.map(start));
  const addresses = services.map(({ address }) => address);
  return {
    server,
    services,
    load: ({ hasFaults }: { hasFaults: boolean }) =>
      new CatalogueLoad(operator, token, { addresses, clients: CLIENTS, ms: LOAD_MS, hasFaults }),
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
      await server[Symbol.asyncDispose]();
    },
  };
}

function secondsOfEnvironment(): number {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "LOAD_SECONDS" });
  return Number(state === "granted" && Deno.env.get("LOAD_SECONDS") || 5);
}
