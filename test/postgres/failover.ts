/** Kills the primary of two servers under load, promotes its standby, and checks what became of every addition. */

import { assert, assertEquals, assertLess } from "@std/assert";
import { issueKey } from "../../src/commands/issue_key.ts";
import { readHead } from "../../src/log/head.ts";
import { audit } from "../../scripts/audit/audit.ts";
import type { Checkpoint } from "../../scripts/audit/log_audit.ts";
import { LoadClient } from "../support/load_client.ts";
import { PostgresServer } from "../support/postgres_server.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";

const CONNECTIONS = 64;

/** Maximum time from the promotion to the next addition. */
export const RETURN_LIMIT_MS = 1_000;

/** Time under load before each kill, and after each return. */
const LOAD_MS = 1_500;

export interface FailoverOutcome {
  /** Milliseconds from each promotion until each instance acknowledged an addition. */
  returnsMs: number[];
  outcomes: Record<string, number>;
  summary: string;
}

/**
 * Runs rounds of a primary that is killed, a standby that is promoted, and the killed one that returns as its
 * standby. Rejects if an acknowledged pet is lost or an addition is stored twice, if additions do not continue in
 * time, or if the audit with the checkpoint from before the kill finds a fault.
 */
export async function runFailover(rounds: number): Promise<FailoverOutcome> {
  await using one = await PostgresServer.start();
  await using other = await PostgresServer.standbyOf(one);
  await one.requireStandby();
  const database = await one.createDatabase();
  const address = one.url(database, { ports: [one.port, other.port] });
  const token = await useRealStore(address, async (operator) => {
    return (await issueKey(operator, { label: "failover" })).token;
  });
  await using first = await ServiceProcess.start(address);
  await using second = await ServiceProcess.start(address);
  const services = [first, second];
  const { load, stop } = startLoad(services, token);
  const returnsMs: number[] = [];
  try {
    let [primary, standby] = [one, other];
    for (let round = 0; round < rounds; round++) {
      await sleep(LOAD_MS);
      const checkpoint = await readCheckpoint(address);
      await primary.kill();
      await standby.promote();
      const promotedAt = performance.now();
      await Promise.all(services.map(async (service) => {
        await untilAdded(service, token, load);
        returnsMs.push(Math.round(performance.now() - promotedAt));
      }));
      [primary, standby] = [standby, primary];
      await standby.follow(primary);
      await primary.requireStandby();
      await useRealStore(address, async ({ store, runtime }) => {
        const { sound, faults } = await audit({ store, runtime }, { checkpoint });
        assert(sound, JSON.stringify(faults));
      });
    }
    await sleep(LOAD_MS);
  } finally {
    await stop();
  }
  await useRealStore(address, (operator) => load.expectLogged(operator));
  for (const service of services) await load.expectServed(service);
  for (const ms of returnsMs) assertLess(ms, RETURN_LIMIT_MS);
  assertEquals(returnsMs.length, 2 * rounds);
  return { returnsMs, outcomes: load.outcomes, summary: load.summary };
}

/** Starts clients that add and read pets on the services, until they are stopped. */
export function startLoad(services: ServiceProcess[], token: string) {
  const load = new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults: "store",
    reads: true,
  });
  let isOver = false;
  const running = load.run(() => isOver);
  const stop = async () => {
    isOver = true;
    await running;
  };
  return { load, stop };
}

export function readCheckpoint(address: string): Promise<Checkpoint> {
  return useRealStore(address, async ({ store }) => {
    const { position, lastHash: hash } = (await readHead(store)).head;
    return { position, hash };
  });
}

/** Adds pets until one is acknowledged. The load takes them for unclear ones, as other clients made them. */
export async function untilAdded(
  service: ServiceProcess,
  token: string,
  { unclear }: LoadClient,
): Promise<void> {
  for (;;) {
    const name = `Survivor ${crypto.randomUUID()}`;
    unclear.add(name);
    if (await service.add({ name, categoryId: 1 }, token) === 201) return;
    await sleep(10);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
