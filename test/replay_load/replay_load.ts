/** Replays, some of them killed, while clients read and write on two processes; what clients see is checked. */

import { examplePet, fillStore } from "../bench/fill_store.ts";
import { spawnScript } from "../support/run_task.ts";
import { ServiceProcess } from "../support/service_process.ts";
import { encodePet } from "../../events/pet.ts";

export interface ReplayLoad {
  clients: number;
  /** How many pets are there before. */
  pets: number;
  /** How many replays are killed, each at a random moment of its run. */
  kills: number;
}

export interface ScriptOutcome {
  code: number;
  stdout: string;
  stderr: string;
}

export interface ReplayLoadOutcome {
  reads: number;
  writes: number;
  /** What no client should have met: failed requests, short lists, stale or wrong answers. */
  violations: string[];
  /** Of the requests, the longest in milliseconds. */
  slowestMs: number;
  /** Replays that were left alone. */
  replays: ScriptOutcome[];
  /** How many replays were killed before they had ended by themselves. */
  killed: number;
  /** Audits made one after the other all the while, and the last one when all had ended. */
  audits: ScriptOutcome[];
}

/** Runs one replay to its end, then the killed ones, then one more that finishes what they left. */
export async function runReplayLoad(
  path: string,
  { clients, pets, kills }: ReplayLoad,
): Promise<ReplayLoadOutcome> {
  const token = await fillStore(path, pets);
  await using one = await ServiceProcess.start(path);
  await using other = await ServiceProcess.start(path);
  const load = new Load([one, other], token, pets);
  const working = load.run(clients);
  const audits: ScriptOutcome[] = [];
  let isOver = false;
  const auditing = (async () => {
    while (!isOver) audits.push(await runScript("audit.ts", path, []));
  })();
  const replays: ScriptOutcome[] = [];
  let killed = 0;
  try {
    const start = performance.now();
    replays.push(await runScript("replay.ts", path, ["--grace", "1"]));
    const runMs = performance.now() - start;
    for (let kill = 0; kill < kills; kill++) {
      // The lease of the one killed before is waited out first.
      const after = Math.random() * runMs + (kill === 0 ? 0 : 5_000);
      if (await runAndKill(path, after, runMs)) killed++;
    }
    if (kills > 0) replays.push(await runScript("replay.ts", path, ["--grace", "1"]));
    isOver = true;
    await auditing;
    const outcome = load.stop();
    await working;
    audits.push(await runScript("audit.ts", path, []));
    return { ...outcome, replays, killed, audits };
  } finally {
    isOver = true;
    load.stop();
    await Promise.all([auditing, working]);
  }
}

class Load {
  #services: ServiceProcess[];
  #token: string;
  #isOver = false;
  #reads = 0;
  #writes = 0;
  #slowestMs = 0;
  #violations: string[] = [];
  /** The newest pet that was acknowledged to any client. */
  #newest: number;
  #texts = new Map<number, string>();

  constructor(services: ServiceProcess[], token: string, pets: number) {
    this.#services = services;
    this.#token = token;
    this.#newest = pets;
  }

  async run(clients: number): Promise<void> {
    await Promise.all(Array.from({ length: clients }, async (_, client) => {
      while (!this.#isOver) {
        const start = performance.now();
        try {
          if (client % 4 === 0) await this.#write();
          else if (client % 4 === 1) await this.#readPet();
          else await this.#readList(client % 4 === 2 ? undefined : "sold");
        } catch (error) {
          this.#violations.push(String(error));
        }
        this.#slowestMs = Math.max(this.#slowestMs, performance.now() - start);
      }
    }));
  }

  stop() {
    this.#isOver = true;
    return {
      reads: this.#reads,
      writes: this.#writes,
      slowestMs: Math.round(this.#slowestMs),
      violations: this.#violations,
    };
  }

  async #write(): Promise<void> {
    const { categoryId, ...pet } = examplePet(Math.floor(Math.random() * 1_000));
    const body = JSON.stringify({ ...pet, categoryId: Number(categoryId) });
    const response = await this.#send("/v1/pets", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const text = await response.text();
    if (response.status !== 201) return this.#violate(`add: ${response.status} ${text}`);
    const { id } = JSON.parse(text);
    if (this.#texts.has(id)) this.#violate(`add: pet ${id} was added twice`);
    this.#texts.set(id, text);
    if (text !== encodePet({ ...pet, categoryId, id })) {
      this.#violate(`add: ${text} is not ${body}`);
    }
    this.#newest = Math.max(this.#newest, id);
    this.#writes++;
  }

  async #readPet(): Promise<void> {
    const id = 1 + Math.floor(Math.random() * this.#newest);
    const known = this.#texts.get(id);
    const response = await this.#send(`/v1/pets/${id}`);
    const text = await response.text();
    if (response.status !== 200) return this.#violate(`get ${id}: ${response.status} ${text}`);
    if (known !== undefined && text !== known) this.#violate(`get ${id}: ${text} is not ${known}`);
    this.#reads++;
  }

  async #readList(status: string | undefined): Promise<void> {
    const newest = this.#newest;
    const query = status === undefined ? "" : `&status=${status}`;
    const response = await this.#send(`/v1/pets?limit=100${query}`);
    const text = await response.text();
    if (response.status !== 200) return this.#violate(`list: ${response.status} ${text}`);
    const pets = JSON.parse(text) as { id: number; status?: string }[];
    if (pets.length !== 100) this.#violate(`list ${status}: only ${pets.length} pets`);
    if (status === undefined) {
      if (pets[0].id < newest) this.#violate(`list: ${pets[0].id} after ${newest}`);
      if (pets[0].id - pets.at(-1)!.id !== 99) this.#violate(`list: a gap below ${pets[0].id}`);
    } else if (pets.some((pet) => pet.status !== status)) {
      this.#violate(`list: not only ${status}`);
    } else {
      const listed = new Set(pets.map(({ id }) => id));
      for (let id = pets.at(-1)!.id; id <= newest; id++) {
        const known = this.#texts.get(id);
        if (known?.includes(`"status":"${status}"`) && !listed.has(id)) {
          this.#violate(`list ${status}: pet ${id} is not in it`);
        }
      }
    }
    this.#reads++;
  }

  #send(path: string, init?: RequestInit): Promise<Response> {
    const service = this.#services[Math.floor(Math.random() * this.#services.length)];
    return service.send(path, this.#token, init);
  }

  #violate(what: string): void {
    this.#violations.push(what);
  }
}

async function runScript(
  script: string,
  kvPath: string,
  args: string[],
): Promise<ScriptOutcome> {
  const { code, stdout, stderr } = await spawnScript(script, args, kvPath).output();
  const decoder = new TextDecoder();
  return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
}

/** Resolves to whether it was killed before it ended by itself, which takes it longer than `runMs`. */
async function runAndKill(kvPath: string, afterMs: number, runMs: number): Promise<boolean> {
  const grace = String(Math.ceil(runMs / 1_000));
  const replay = spawnScript("replay.ts", ["--grace", grace], kvPath);
  const timer = setTimeout(() => replay.kill("SIGKILL"), afterMs);
  const { signal } = await replay.output();
  clearTimeout(timer);
  return signal === "SIGKILL";
}
