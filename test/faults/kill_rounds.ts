import { assertEquals } from "@std/assert";
import { readHead } from "../../src/log/head.ts";
import { spawnScript } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { TempStore } from "../support/temp_store.ts";
import { LoadClient } from "../support/load_client.ts";

const CONNECTIONS = 16;

const TOOLS = [
  ["replay", "--grace", "0.2"],
  ["audit"],
  ["log"],
  ["keys", "issue", "--label", "round"],
];

export interface KillCounts {
  rounds: number;
  killedServices: number;
  killedTools: number;
  load: LoadClient;
  events: number;
}

/**
 * Two services and a tool on one store file, under load. In every round, one of them is killed at a random
 * moment. At the end, every acknowledged pet must be stored.
 */
export async function killRounds(rounds: number): Promise<KillCounts> {
  await using temp = await TempStore.make();
  const token = await temp.issueKey();
  const counts = { rounds, killedServices: 0, killedTools: 0, events: 0 };
  const start = () => ServiceProcess.start(temp.kvPath);
  const services = await Promise.all([start(), start()]);
  const load = new LoadClient({
    services: () => services,
    token,
    connections: CONNECTIONS,
    faults: "process",
  });
  try {
    let isOver = false;
    const running = load.run(() => isOver);
    for (let round = 1; round <= rounds; round++) {
      const tool = runTool(TOOLS[round % TOOLS.length], temp.kvPath);
      await pause(50 + Math.random() * 1_000);
      const victim = Math.floor(Math.random() * 3);
      if (victim < 2) {
        await services[victim].stop("SIGKILL");
        services[victim] = await start();
        counts.killedServices++;
      } else {
        counts.killedTools += await tool.kill() ? 1 : 0;
      }
      await tool.ended;
      await expectFresh(load, services, token);
    }
    isOver = true;
    await running;
    await expectReplayable(temp);
    for (const service of services) await load.expectServed(service);
    await temp.use((service) => load.expectLogged(service));
    counts.events = await temp.use(async ({ store }) => (await readHead(store)).head.position);
  } finally {
    for (const service of services) await service.stop("SIGKILL");
  }
  return { ...counts, load };
}

/** Both services return the pet that was acknowledged last, while the load runs. */
async function expectFresh(
  { acknowledged, violations }: LoadClient,
  services: ServiceProcess[],
  token: string,
): Promise<void> {
  assertEquals(violations, []);
  const newest = [...acknowledged].at(-1);
  if (newest === undefined) return;
  const [id, text] = newest;
  for (const service of services) {
    const response = await service.send(`/v1/pets/${id}`, token);
    assertEquals(await response.text(), text);
  }
}

/** A replay finishes the work of killed ones. */
async function expectReplayable({ kvPath }: TempStore): Promise<void> {
  const { ended } = runTool(["replay", "--grace", "0"], kvPath);
  const { code, stderr } = await ended;
  assertEquals(code, 0, stderr);
}

function runTool([script, ...args]: string[], kvPath: string) {
  const child = spawnScript(script, args, kvPath);
  const ended = child.output().then(({ code, stderr }) => {
    return { code, stderr: new TextDecoder().decode(stderr) };
  });
  /** Resolves to whether the tool was still running. */
  const kill = async () => {
    try {
      child.kill("SIGKILL");
    } catch {
      return false;
    }
    return (await child.status).signal === "SIGKILL";
  };
  return { ended, kill };
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
