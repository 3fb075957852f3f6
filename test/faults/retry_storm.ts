/**
 * Impatient clients that repeat additions under their Idempotency-Keys while services are killed: each key
 * gets one pet.
 *
 *     deno run --allow-all test/faults/retry_storm.ts [--creates 10000] [--kills 5] [--instances 1]
 */

import { assertEquals } from "@std/assert";
import { parseArgs } from "node:util";
import { LoadClient } from "../support/load_client.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";

export interface Storm {
  creates: number;
  /** How often, spread over the additions, an instance is killed and started again. */
  kills: number;
  instances: number;
}

const CONNECTIONS = 64;

const GIVE_UP_MS = 60;

/** Runs the storm on a new store, and resolves to the number of each outcome. */
export async function retryStorm(
  { creates, kills, instances }: Storm,
): Promise<Record<string, number>> {
  await using temp = await TempStore.make();
  const token = await temp.issueKey();
  const services: ServiceProcess[] = [];
  const load = new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults: "process",
    giveUpMs: GIVE_UP_MS,
  });
  try {
    while (services.length < instances) services.push(await ServiceProcess.start(temp.kvPath));
    const stride = Math.ceil(creates / (kills + 1));
    let killed = 0;
    const restarts: Promise<void>[] = [];
    await load.run(() => {
      if (killed < kills && load.begun >= stride * (killed + 1)) {
        restarts.push(restart(services, killed++ % instances, temp));
      }
      return load.begun >= creates;
    });
    await Promise.all(restarts);
    assertEquals(load.acknowledged.size, creates);
    await load.expectServed(services[0]);
    await temp.use((operator) => load.expectLogged(operator));
    for (const { lines } of services) {
      assertEquals(lines.filter((line) => line.includes('"level":"error"')), []);
    }
    return load.outcomes;
  } finally {
    for (const service of services) await service.stop("SIGKILL");
  }
}

async function restart(
  services: ServiceProcess[],
  index: number,
  { kvPath }: TempStore,
): Promise<void> {
  await services[index].stop("SIGKILL");
  services[index] = await ServiceProcess.start(kvPath);
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      creates: { type: "string", default: "10000" },
      kills: { type: "string", default: "5" },
      instances: { type: "string", default: "1" },
    },
  });
  const storm = {
    creates: Number(values.creates),
    kills: Number(values.kills),
    instances: Number(values.instances),
  };
  const start = performance.now();
  const outcomes = await retryStorm(storm);
  const seconds = ((performance.now() - start) / 1_000).toFixed(1);
  console.log(JSON.stringify({ ...storm, seconds, outcomes }));
}
