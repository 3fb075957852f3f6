import { assertEquals, assertGreater } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import { revokeKey } from "../../src/commands/revoke_key.ts";
import { createService, type Service } from "../../src/service.ts";
import { serviceErrorCode } from "../../src/service_error.ts";
import { systemRuntime } from "../../src/runtime/system_runtime.ts";
import { TcpProxy } from "./tcp_proxy.ts";
import { freePort } from "./free_port.ts";
import { type ExpectedFaults, LoadClient } from "./load_client.ts";
import { openRealStore } from "./real_store.ts";
import { ServiceProcess } from "./service_process.ts";
import type { StoreServer, StoreServers } from "./store_server.ts";

/** To run for longer: `LOAD_SECONDS=60 deno task test:postgres`. */
const LOAD_MS = secondsOfEnvironment() * 1_000;

const INSTANCES = 4;
const CONNECTIONS = 64;

/**
 * Declares the tests of several instances under load. One of them cuts that share of responses off, and the
 * connections of the store with them.
 */
export function testCatalogueLoad({ name, ignore, start }: StoreServers, cutShare: number): void {
  const test = (criterion: string, fn: () => Promise<void>) =>
    Deno.test({ name: `${name}: ${criterion}`, ignore, fn });

  test("four instances agree on keys and pets at every moment", async () => {
    await using fixture = await openFixture(start, "none");
    const { load } = fixture;
    const keysRevoked = await fixture.run(LOAD_MS);
    await fixture.verify();
    console.log({ keysRevoked, ...load.outcomes });
    assertGreater(load.acknowledged.size, LOAD_MS / 100);
    assertGreater(keysRevoked, 0);
  });

  test("acknowledged pets are stored once although instances and the server are killed and stopped", async () => {
    await using fixture = await openFixture(start, "process");
    const { server, load } = fixture;
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
        // Each fault once, then by chance.
        await faults[round < faults.length ? round : Math.floor(Math.random() * faults.length)]();
      }
    };
    const broken = breaking();
    try {
      await fixture.run(Math.max(LOAD_MS, 15_000));
    } finally {
      isOver = true;
      await broken;
    }
    await fixture.verify();
    console.log(load.outcomes);
    assertGreater(load.acknowledged.size, 0);
    assertGreater(load.unclear.size, 0);
  });

  test("acknowledged pets are stored once although connections to the server are cut after commits", async () => {
    await using server = await start();
    await using proxy = new TcpProxy(() => server.port);
    await using fixture = await openFixture(server, "store", proxy.port);
    const { load } = fixture;
    proxy.share = cutShare;
    await fixture.run(LOAD_MS);
    proxy.share = 0;
    await fixture.verify();
    console.log({ cuts: proxy.cuts, ...load.outcomes });
    assertGreater(proxy.cuts, LOAD_MS / 1_000);
    assertGreater(load.acknowledged.size, 20 * (load.refused.size + load.unclear.size));
  });
}

/** Instances on their own server, or on the given one, which they reach at that port. */
async function openFixture(
  given: StoreServer | StoreServers["start"],
  faults: ExpectedFaults,
  storePort?: number,
) {
  const server = typeof given === "function" ? await given() : given;
  const operator = await openOperator(server);
  const { token } = await issueKey(operator, { label: "load" });
  const ports = Array.from({ length: INSTANCES }, freePort);
  const start = (port: number) =>
    ServiceProcess.start(server.addressAt(storePort ?? server.port), {
      ...server.env,
      PORT: String(port),
    });
  const services = await Promise.all(ports.map(start));
  const load = new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults,
    reads: true,
  });
  /** A key is valid on every instance as soon as it is issued, and on none as soon as it is revoked. */
  const changeKeys = async () => {
    const key = await issueKey(operator, { label: "short-lived" });
    for (const service of services) await load.expectKey(service, key.token, 200);
    await revokeKey(operator, key.id);
    for (const service of services) await load.expectKey(service, key.token, 401);
  };
  return {
    server,
    load,
    /** Runs the load while keys are issued and revoked. Resolves to the number of keys. */
    async run(ms: number): Promise<number> {
      const end = performance.now() + ms;
      const isOver = () => performance.now() > end;
      let keysRevoked = 0;
      const changing = (async () => {
        for (; !isOver(); await sleep(300)) {
          try {
            await changeKeys();
            keysRevoked++;
          } catch (error) {
            if (faults === "none" || serviceErrorCode(error) === undefined) throw error;
          }
        }
      })();
      await Promise.all([changing, load.run(isOver)]);
      return keysRevoked;
    },
    /** Kills one of the instances and starts it again at its port. */
    async restart(index: number) {
      await services[index].stop("SIGKILL");
      services[index] = await start(ports[index]);
    },
    async verify() {
      await untilAnswered(() => operator.heads.fresh());
      for (const service of services) await untilAnswered(() => expectReady(service));
      await load.expectLogged(operator);
      for (const service of services) await load.expectServed(service);
    },
    async [Symbol.asyncDispose]() {
      for (const service of services) await service[Symbol.asyncDispose]();
      operator.store.close();
      if (server !== given) await server[Symbol.asyncDispose]();
    },
  };
}

/** An operator's tools on the store itself. */
async function openOperator({ address, env }: StoreServer): Promise<Service> {
  const store = await openRealStore(address, env);
  return createService({ store, runtime: systemRuntime, report: () => {}, appendLimitMs: 10_000 });
}

async function expectReady(service: ServiceProcess): Promise<void> {
  const response = await service.send("/readyz", "");
  await response.body?.cancel();
  assertEquals(response.status, 200);
}

/** A store that was away responds within two seconds of its return. */
async function untilAnswered(ask: () => Promise<unknown>): Promise<void> {
  for (const end = performance.now() + 2_000;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await sleep(50);
    }
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function secondsOfEnvironment(): number {
  const { state } = Deno.permissions.querySync({ name: "env", variable: "LOAD_SECONDS" });
  return Number(state === "granted" && Deno.env.get("LOAD_SECONDS") || 5);
}
