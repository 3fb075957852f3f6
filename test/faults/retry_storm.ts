/**
 * Creates that are sent again and again by clients of little patience, each under one Idempotency-Key:
 * a pet each, whatever was lost on the way.
 *
 *     deno run --allow-all test/faults/retry_storm.ts [--creates 10000] [--kills 5] [--instances 1]
 */

import { assertEquals } from "@std/assert";
import { parseArgs } from "node:util";
import { runTask } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";

export interface Storm {
  creates: number;
  /** How often, spread over the creates, an instance is killed and started anew. */
  kills: number;
  instances: number;
}

/** How many creates are under way at a time. */
const CLIENTS = 64;

/** A client gives up after a time from 1 to this, drawn anew for each request. */
const PATIENCE_LIMIT_MS = 60;

/** How often in a hundred a request is sent twice at once, or again after its answer. */
const DOUBLED_PERCENT = 10;

/** What became of the requests, by outcome. */
export type Outcomes = Record<string, number>;

/** Lets the storm pass over services of their own on a new store; throws where it did any harm. */
export async function retryStorm({ creates, kills, instances }: Storm): Promise<Outcomes> {
  const folder = await Deno.makeTempDir();
  const kvPath = `${folder}/pets.sqlite3`;
  const services: ServiceProcess[] = [];
  try {
    const { stdout } = await runTask(["keys", "issue", "--label", "storm"], { kvPath });
    const token = stdout.trim();
    for (let count = 0; count < instances; count++) {
      services.push(await ServiceProcess.start(kvPath));
    }
    const outcomes: Outcomes = {};
    const ids = new Map<string, number>();
    let begun = 0;
    const stride = Math.ceil(creates / (kills + 1));
    const client = async () => {
      while (begun < creates) {
        const name = `Pet ${++begun}`;
        if (begun % stride === 0 && begun < creates) await restart(services, kvPath);
        ids.set(name, await createPet(services, token, name, outcomes));
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    const listed = await listAll(services[0], token);
    assertEquals(listed.size, creates, "as many pets as keys");
    assertEquals(listed, new Map([...ids].map(([name, id]) => [id, name])));
    const audit = await runTask(["audit"], { kvPath });
    assertEquals(audit.code, 0, audit.stdout + audit.stderr);
    for (const { lines } of services) {
      assertEquals(lines.filter((line) => line.includes('"level":"error"')), []);
    }
    return outcomes;
  } finally {
    for (const service of services) await service.stop("SIGKILL");
    await Deno.remove(folder, { recursive: true });
  }
}

/** Sends until there is an answer, and resolves to the id that it names. */
async function createPet(
  services: ServiceProcess[],
  token: string,
  name: string,
  outcomes: Outcomes,
): Promise<number> {
  const key = crypto.randomUUID();
  const ids = new Set<number>();
  for (let isAnswered = false; !isAnswered || byChance(DOUBLED_PERCENT);) {
    const count = byChance(DOUBLED_PERCENT) ? 2 : 1;
    const sending = Array.from({ length: count }, () => send(services, token, name, key, outcomes));
    for (const id of await Promise.all(sending)) if (id !== undefined) ids.add(id);
    isAnswered = ids.size > 0;
  }
  assertEquals(ids.size, 1, `one id for ${name}`);
  return [...ids][0];
}

/** Sends once, and resolves to the id where there was an answer in time. */
async function send(
  services: ServiceProcess[],
  token: string,
  name: string,
  key: string,
  outcomes: Outcomes,
): Promise<number | undefined> {
  const count = (outcome: string) => outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  const service = services[Math.floor(Math.random() * services.length)];
  const patience = AbortSignal.timeout(1 + Math.floor(Math.random() * PATIENCE_LIMIT_MS));
  try {
    const answer = await service.send("/v1/pets", token, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify({ name, categoryId: 1 }),
      signal: patience,
    });
    const pet = await answer.json();
    if (answer.status === 503) {
      count(pet.code);
      return undefined;
    }
    assertEquals([answer.status, pet.name], [201, name]);
    count(answer.headers.has("idempotency-replayed") ? "replayed" : "created");
    return pet.id;
  } catch (error) {
    if (error instanceof DOMException) count("timed out");
    else if (error instanceof TypeError) count("broken off");
    else throw error;
    return undefined;
  }
}

/** Kills one of the services in the midst of its work and puts another in its place. */
async function restart(services: ServiceProcess[], kvPath: string): Promise<void> {
  const index = Math.floor(Math.random() * services.length);
  await services[index].stop("SIGKILL");
  services[index] = await ServiceProcess.start(kvPath);
}

async function listAll(service: ServiceProcess, token: string): Promise<Map<number, string>> {
  const names = new Map<number, string>();
  for (let path: string | undefined = "/v1/pets?limit=100"; path !== undefined;) {
    const page: Response = await service.send(path, token);
    for (const { id, name } of await page.json()) names.set(id, name);
    path = /<([^>]+)>/.exec(page.headers.get("link") ?? "")?.[1];
  }
  return names;
}

function byChance(percent: number): boolean {
  return Math.random() * 100 < percent;
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
