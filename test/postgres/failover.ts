/**
 * Kills the primary of a cluster under load, and checks what became of every addition. The tests run a few rounds.
 *
 *     deno task test:failover [ROUNDS]
 */

import { audit } from "../support/tools.ts";
import { APPLICATION } from "../../src/application.ts";
import { assert, assertEquals } from "@std/assert";
import { setTimeout as sleep } from "node:timers/promises";
import { issueApiKey } from "../../src/keys/write_api_key.ts";
import { readHead } from "../../src/eventstore_less/log/head.ts";
import type { Service } from "../../src/service.ts";
import { LoadClient } from "../support/load_client.ts";
import { PostgresServer } from "../support/postgres_server.ts";
import { useRealStore } from "../support/real_store.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { until } from "../support/until.ts";

/** Time under load before each kill, and after each return. */
const LOAD_MS = 1_500;

/**
 * Runs rounds of a primary that is killed, a standby that is promoted, and the killed one that returns as its
 * standby. Rejects if an acknowledged pet is lost or an addition is stored twice, if additions do not continue, or if
 * the audit with the checkpoint from before the kill finds a fault. Resolves to the outcomes of requests, and to the
 * milliseconds from each promotion until each instance acknowledged an addition.
 */
export async function runFailover(pair: Awaited<ReturnType<typeof startPair>>, rounds: number) {
  const { address } = pair;
  // A connection may take longer than its limit under this load.
  const use = <T>(work: (service: Service) => Promise<T>) =>
    until(() => useRealStore(address, work), "The store cannot be used");
  const { token } = await use((operator) => issueApiKey(operator, { label: "failover" }));
  await using first = await ServiceProcess.start(address);
  await using second = await ServiceProcess.start(address);
  const services = [first, second];
  const load = new LoadClient({
    services: () => services,
    token,
    connections: 32,
    faults: "store",
    reads: true,
    changes: true,
  });
  let isOver = false;
  const running = load.run(() => isOver);
  const returnsMs: number[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      await sleep(LOAD_MS);
      const checkpoint = await use(async ({ store }) => {
        const { position, lastHash: hash } = (await readHead(APPLICATION, store)).head;
        return { position, hash };
      });
      await pair.failOver();
      const promotedAt = performance.now();
      await Promise.all(services.map(async (service) => {
        await untilAdded(service, token, load);
        returnsMs.push(Math.round(performance.now() - promotedAt));
      }));
      await pair.repair();
      const { sound, faults } = await use((deps) => audit(deps, { checkpoint }));
      assert(sound, JSON.stringify(faults));
    }
    await sleep(LOAD_MS);
  } finally {
    isOver = true;
    await running;
  }
  await use((operator) => load.expectLogged(operator));
  for (const service of services) await load.expectServed(service);
  assertEquals(returnsMs.length, 2 * rounds);
  return { summary: load.summary, outcomes: load.outcomes, returnsMs };
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

/** A primary and its synchronous standby, which nobody but the test watches, with a database. */
export async function startPair() {
  const primary = await PostgresServer.start();
  const standby = await PostgresServer.standbyOf(primary);
  await primary.requireStandby();
  const database = await primary.createDatabase();
  const pair = {
    primary,
    standby,
    database,
    /** The URL of the database on both. */
    address: primary.url(database, { ports: [primary.port, standby.port] }),
    /** Kills the primary. Resolves when the standby is the primary. */
    async failOver(): Promise<void> {
      await pair.primary.kill();
      await pair.standby.promote();
      [pair.primary, pair.standby] = [pair.standby, pair.primary];
    },
    /** Makes the killed one the synchronous standby of the other. */
    async repair(): Promise<void> {
      await pair.standby.follow(pair.primary);
      await pair.primary.requireStandby();
    },
    async [Symbol.asyncDispose](): Promise<void> {
      for (const server of [primary, standby]) await server[Symbol.asyncDispose]();
    },
  };
  return pair;
}

if (import.meta.main) {
  await using pair = await startPair();
  console.log(await runFailover(pair, Number(Deno.args[0] ?? 10)));
}
