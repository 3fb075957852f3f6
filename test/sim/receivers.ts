/** Receivers of webhooks, and their owners. What reaches a receiver is noted, and `delivery_checker.ts` judges it. */

import type { WebhookSender } from "../../src/webhooks/sending/webhook_sender.ts";
import type { Cluster } from "./cluster.ts";
import type { KeyInUse } from "./history.ts";
import type { Node } from "./node.ts";
import { feedIdOf } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Simulation } from "./simulation.ts";
import type { Workload } from "./workload.ts";

/** Time after which the sender gives up, in milliseconds. */
const ATTEMPT_LIMIT_MS = 15_000;

/** Maximum number of requests to add a webhook, which are repeated while their outcome is unknown. */
const ADD_ATTEMPTS = 5;

const TYPES = ["PetCreated", "PetUpdated", "PetRemoved", "CategoryNamed"];

/** What becomes of an attempt. The receiver has the delivery unless it is `unreached`. */
type Fate = "confirmed" | "refused" | "gone" | "silent" | "answer_lost" | "unreached";

/** How often what becomes of attempts. */
type Habit = Partial<Record<Fate, number>>;

const HABITS: Habit[] = [
  { confirmed: 1 },
  { confirmed: 1, refused: 0.3, unreached: 0.1 },
  { confirmed: 1, answer_lost: 0.3, silent: 0.05 },
  { confirmed: 1, silent: 1, unreached: 1 },
  { confirmed: 1, gone: 0.05 },
];

/** An attempt that has reached its receiver. */
export interface Delivered {
  url: string;
  headers: Record<string, string>;
  body: string;
  node: Node;
  /** The step and the time at which the node began to send it. */
  sentStep: number;
  sentAt: number;
  /** The step at which it arrived. */
  step: number;
  /** Whether the response of the receiver confirms it; perhaps the node never got it. */
  isConfirmed: boolean;
  /** When the node had an outcome or had given up; `Infinity` if it died first. */
  endAt: number;
}

/** What the owner of a webhook knows of it. */
interface Owned {
  id: string;
  url: string;
  secrets: string[];
  /** Whether the response with a new secret was lost, so that the owner does not know all. */
  hasLostSecret: boolean;
}

/** A request to continue the deliveries of a webhook after a position. */
export interface Placement {
  id: string;
  position: number;
  startStep: number;
  /** `Infinity` if it was perhaps carried out later. */
  endStep: number;
}

type Send = WebhookSender["send"];

export class Receivers {
  readonly delivered: Delivered[] = [];
  /** The webhooks of which the addition was confirmed, also those that were removed. */
  readonly owned: Owned[] = [];
  /** All that may have been carried out. */
  readonly placements: Placement[] = [];
  readonly #simulation: Simulation;
  readonly #random: Random;
  readonly #habits = new Map<string, Habit>();
  /** Whether each attempt is confirmed from now on. */
  #isWell = false;
  #urls = 0;

  constructor(simulation: Simulation, random: Random) {
    this.#simulation = simulation;
    this.#random = random;
  }

  /** The sender of a node. */
  senderOf(node: Node): { send: Send } {
    return { send: (request) => this.#send(node, request) };
  }

  #send(node: Node, { url, headers, body, signal }: Parameters<Send>[0]): ReturnType<Send> {
    if (signal.aborted) return Promise.reject(signal.reason);
    const simulation = this.#simulation;
    const { now: sentAt, step: sentStep } = simulation;
    const time = new Date(node.now()).toISOString();
    const fate = this.#fateOf(url);
    const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<Send>>>();
    const delivered: Delivered = {
      ...{ url, headers, body, node, sentStep, sentAt },
      step: Infinity,
      isConfirmed: false,
      endAt: Infinity,
    };
    const end = (settle: () => void) => {
      delivered.endAt = Math.min(delivered.endAt, simulation.now);
      settle();
    };
    signal.addEventListener("abort", () => end(() => reject(signal.reason)));
    const answer = (outcome: { status?: number; error?: "timed_out" | "connection_failed" }) =>
      node.deliver(() =>
        end(() => resolve({ time, durationMs: simulation.now - sentAt, ...outcome }))
      );
    const latency = () => this.#random.between(0, this.#random.pick([5, 50, 1_000]));
    node.onDeath(() => end(() => {}));
    simulation.after(latency(), () => {
      simulation.trace(`${node.name} => ${url} ${headers["webhook-id"]} ${fate}`);
      if (fate === "unreached") return answer({ error: "connection_failed" });
      delivered.step = simulation.step;
      delivered.isConfirmed = fate === "confirmed";
      this.delivered.push(delivered);
      if (fate === "silent") {
        return simulation.after(ATTEMPT_LIMIT_MS, () => answer({ error: "timed_out" }));
      }
      simulation.after(latency(), () => {
        if (fate === "answer_lost") return answer({ error: "connection_failed" });
        answer({ status: { confirmed: 204, refused: 500, gone: 410 }[fate] });
      });
    });
    return promise;
  }

  #fateOf(url: string): Fate {
    const habit = this.#isWell ? HABITS[0] : this.#habits.get(url) ?? HABITS[0];
    return this.#random.weighted(habit as Record<Fate, number>);
  }

  /** Adds, changes and removes webhooks until the end of a round. */
  async own(workload: Workload, isOver: () => boolean): Promise<void> {
    const random = this.#random;
    const pauseMs = random.pick([200, 2_000, 10_000]);
    while (!isOver()) {
      const action = random.weighted({ add: 3, rotate: 1, describe: 1, resume: 1, remove: 1 });
      if (action === "add") await this.#add(workload);
      else if (this.owned.length > 0) await this.#act(workload, action, random.pick(this.owned));
      await this.#simulation.sleep(random.between(0, 2 * pauseMs));
    }
  }

  async #add({ cluster, keys: [key] }: Workload): Promise<void> {
    const random = this.#random;
    const url = `https://receiver${this.#urls++}.example/`;
    this.#habits.set(url, random.pick(HABITS));
    const types = random.chance(0.5) ? undefined : TYPES.filter(() => random.chance(0.6));
    const body = { url, types: types?.length === 0 ? undefined : types };
    for (let attempt = 0; attempt < ADD_ATTEMPTS; attempt++) {
      const headers = { "idempotency-key": url };
      const response = await ask(cluster, random, key, { method: "POST", headers, body });
      if (response?.status !== 201) continue;
      const { id, secret } = await response.json();
      this.owned.push({ id, url, secrets: [secret], hasLostSecret: false });
      return;
    }
  }

  async #act(
    { cluster, keys: [key] }: Workload,
    action: "rotate" | "describe" | "resume" | "remove",
    owned: Owned,
  ): Promise<void> {
    const random = this.#random;
    const { id } = owned;
    switch (action) {
      case "rotate": {
        const response = await ask(cluster, random, key, { method: "POST", path: `${id}/secret` });
        if (response?.status === 200) owned.secrets.push((await response.json()).secret);
        else owned.hasLostSecret = true;
        break;
      }
      case "describe": {
        const body = { description: `Change ${random.integer(1, 1_000)}` };
        await ask(cluster, random, key, { method: "PATCH", path: id, body });
        break;
      }
      case "resume":
        if (random.chance(0.5)) await this.#place(cluster, key, id);
        else await ask(cluster, random, key, { method: "POST", path: `${id}/resume`, body: {} });
        break;
      case "remove":
        await ask(cluster, random, key, { method: "DELETE", path: id });
        break;
    }
  }

  /** Lets the deliveries continue after any event, or before the first one. */
  async #place(cluster: Cluster, key: KeyInUse, id: string): Promise<void> {
    const random = this.#random;
    const { lines } = cluster.oracle;
    const position = random.integer(0, lines.length);
    const lastEventId = feedIdOf(lines[position - 1] ?? { position });
    const placement: Placement = {
      id,
      position,
      startStep: this.#simulation.step,
      endStep: Infinity,
    };
    this.placements.push(placement);
    const path = `${id}/resume`;
    const body = { lastEventId };
    const response = await ask(cluster, random, key, { method: "POST", path, body });
    if (response !== undefined && response.status < 500) placement.endStep = this.#simulation.step;
  }

  /** Resumes all webhooks, also those whose owners lost the response, and removes one while events are stored. */
  async settle({ cluster, keys: [key] }: Workload): Promise<void> {
    this.#isWell = true;
    const random = this.#random;
    const response = await ask(cluster, random, key, { method: "GET" });
    const [removed, ...others]: { id: string }[] = await response!.json();
    for (const { id } of others) {
      await ask(cluster, random, key, { method: "POST", path: `${id}/resume`, body: {} });
    }
    if (removed !== undefined) {
      await ask(cluster, random, key, { method: "DELETE", path: removed.id });
    }
  }
}

interface Asked {
  method: string;
  path?: string;
  headers?: Record<string, string>;
  body?: object;
}

/** Sends a request about webhooks to a random instance. Resolves to `undefined` if it does not answer. */
async function ask(
  cluster: Cluster,
  random: Random,
  { token }: KeyInUse,
  { method, path, headers, body }: Asked,
): Promise<Response | undefined> {
  const url = ["http://localhost/v1/webhooks", path].filter((it) => it !== undefined).join("/");
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  const request = new Request(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...headers,
      ...(body !== undefined && { "content-type": type }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return await cluster.ask(random.integer(0, cluster.size - 1), request);
}
