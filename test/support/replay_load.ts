import { fillStore } from "./fill_store.ts";
import { LoadClient } from "./load_client.ts";
import { useRealStore } from "./real_store.ts";
import { expectTask } from "./run_task.ts";
import { ServiceProcess } from "./service_process.ts";

/**
 * Runs a replay during load on two services, and resolves to the numbers of the outcomes. Rejects if a client sees a short
 * list, a stale response or a failure. A 503 is none, because a busy machine causes it, too.
 */
export async function runReplayLoad(path: string): Promise<Record<string, number>> {
  const token = await fillStore(path, 300);
  await using one = await ServiceProcess.start(path);
  await using other = await ServiceProcess.start(path);
  const writes = { changes: true, removals: true };
  const options = { token, connections: 16, faults: "store", reads: true, ...writes } as const;
  const load = new LoadClient({ services: () => [one, other], ...options });
  await load.adopt(one);
  let isOver = false;
  const replaying = expectTask(["replay", "--grace", "1"], { kvPath: path })
    .finally(() => isOver = true);
  await Promise.all([replaying, load.run(() => isOver)]);
  await useRealStore(path, (service) => load.expectLogged(service));
  await load.expectServed(one);
  return load.outcomes;
}
