/** Replays, some of them killed, while clients add, change, list and read on two services. */

import { assertEquals } from "@std/assert";
import { fillStore } from "./fill_store.ts";
import { LoadClient } from "./load_client.ts";
import { useRealStore } from "./real_store.ts";
import { spawnScript } from "./run_task.ts";
import { ServiceProcess } from "./service_process.ts";

export interface ReplayLoad {
  connections: number;
  /** The number of pets before the replays. */
  pets: number;
  /** The number of replays that are killed, each at a random moment. */
  kills: number;
}

export interface ReplayLoadOutcome {
  /** How often each outcome of a request occurred. */
  outcomes: Record<string, number>;
  slowestMs: number;
  /** The number of replays that were killed before they ended. */
  killed: number;
  /** The number of audits during the replays. */
  audits: number;
}

/**
 * Runs one replay to its end, then the killed ones, then one that finishes their work. Rejects if a client sees a
 * failure, a short list or a stale response, or if an audit or a replay that was not killed fails.
 */
export async function runReplayLoad(
  path: string,
  { connections, pets, kills }: ReplayLoad,
): Promise<ReplayLoadOutcome> {
  const token = await fillStore(path, pets);
  await using one = await ServiceProcess.start(path);
  await using other = await ServiceProcess.start(path);
  const load = new LoadClient({
    services: () => [one, other],
    token,
    connections,
    faults: "none",
    reads: true,
    changes: true,
  });
  await load.adopt(one);
  let isOver = false;
  const running = load.run(() => isOver);
  let audits = 0;
  const auditing = (async () => {
    while (!isOver) {
      await runScript("audit", path);
      audits++;
    }
  })();
  let killed = 0;
  const replaying = (async () => {
    try {
      const start = performance.now();
      await runScript("replay", path, "--grace", "1");
      const runMs = performance.now() - start;
      for (let kill = 0; kill < kills; kill++) {
        // The lease of the replay killed before must expire first.
        const afterMs = Math.random() * runMs + (kill === 0 ? 0 : 5_000);
        if (await runAndKill(path, afterMs, runMs)) killed++;
      }
      if (kills > 0) await runScript("replay", path, "--grace", "1");
    } finally {
      isOver = true;
    }
  })();
  await Promise.all([replaying, auditing, running]);
  await useRealStore(path, (service) => load.expectChanges(service));
  await load.expectServed(one);
  return { outcomes: load.outcomes, slowestMs: Math.round(load.slowestMs), killed, audits };
}

/** Runs a script that must succeed. */
async function runScript(script: string, kvPath: string, ...args: string[]): Promise<void> {
  const { code, stdout, stderr } = await spawnScript(script, args, kvPath).output();
  const decoder = new TextDecoder();
  assertEquals(code, 0, decoder.decode(stdout) + decoder.decode(stderr));
}

/** Resolves to whether the replay was killed before it ended, which takes longer than `runMs`. */
async function runAndKill(kvPath: string, afterMs: number, runMs: number): Promise<boolean> {
  const grace = String(Math.ceil(runMs / 1_000));
  const replay = spawnScript("replay", ["--grace", grace], kvPath);
  const timer = setTimeout(() => replay.kill("SIGKILL"), afterMs);
  const { signal } = await replay.output();
  clearTimeout(timer);
  return signal === "SIGKILL";
}
