/**
 * Several instances append to one store all the time, in simulated time: how much does each of them get? It has no
 * faults. Unlike in `simulate()`, commands need time of a processor, and commits wait for each other.
 */

import type { EventBody } from "../../events/all_events.ts";
import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
} from "../../src/eventstore_less/store/store.ts";
import type { Command } from "../../src/eventstore_less/append/command.ts";
import { APPLICATION } from "../../src/application.ts";
import { HEAD_KEY } from "../../src/eventstore_less/keyspace.ts";
import { EventStore, type Instance } from "../../src/eventstore_less/event_store.ts";
import { ModelStore } from "./model_store.ts";
import { Node } from "./node.ts";
import { Simulation } from "./simulation.ts";
import { addPetCommand } from "../support/add_pet_command.ts";
import { type Faults, faultyStore } from "../support/faulty_store.ts";

/** How long the parts of an append take, in milliseconds. */
export interface Times {
  /** From an instance to the store, and back. */
  wayMs: number;
  /** A commit holds the lock of the store for so long, and for so long more for each record. */
  commitMs: number;
  recordMs: number;
  /** The processor of an instance needs so long for each command, whenever it prepares it. */
  prepareMs: number;
  /** From the outcome of a command to the next one of the same client. */
  clientMs: number;
}

/** The clients of an instance, which add pets. */
export interface Load {
  clients: number;
  /** How many times as long the ways from this instance to the store take; by default once. */
  slowness?: number;
  /** When the instance and its clients start, in milliseconds; by default 0. */
  startsAtMs?: number;
}

/** The outcomes that the clients of an instance got. */
export interface Share {
  done: number;
  failed: number;
  p99Ms: number;
  /** How often the instance read the head, for example to look whether others have taken their turns. */
  headReads: number;
  /** From the start of the instance to its first event, in milliseconds. */
  firstMs: number;
}

/** One commit at a time holds the lock, in the order in which they come. */
class LockedStore {
  readonly model = new ModelStore();
  readonly #simulation: Simulation;
  readonly #times: Times;
  #freeAt = 0;

  constructor(simulation: Simulation, times: Times) {
    this.#simulation = simulation;
    this.#times = times;
  }

  /** The store as an instance sees it whose ways to it are `slowness` times as long. */
  clientOf(node: Node, slowness: number): Store {
    const { model } = this;
    const wayMs = this.#times.wayMs * slowness;
    const read = <T>(perform: () => T) =>
      this.#travel(node, wayMs, () => Promise.resolve(perform()));
    return {
      limits: model.limits,
      get: (key: Key) => read(() => model.read(key)),
      list: (range: KeyRange, options: ListOptions) => read(() => model.scan(range, options)),
      snapshot: (keys, ranges, options) => read(() => model.view(keys, ranges, options)),
      commit: (commit) => this.#travel(node, wayMs, () => this.#commit(commit)),
      close() {},
    };
  }

  async #travel<T>(node: Node, wayMs: number, perform: () => Promise<T>): Promise<T> {
    await this.#simulation.sleep(wayMs * (0.8 + 0.4 * node.random()));
    const result = await perform();
    await this.#simulation.sleep(wayMs * (0.8 + 0.4 * node.random()));
    return result;
  }

  async #commit(commit: Commit): Promise<string | null> {
    const { commitMs, recordMs } = this.#times;
    const simulation = this.#simulation;
    // A commit that fails its check holds the lock for a moment only.
    while (this.#freeAt > simulation.now) await simulation.sleep(this.#freeAt - simulation.now);
    const { key, versionstamp } = commit.guard;
    const isOutdated = (this.model.read(key)?.versionstamp ?? null) !== versionstamp;
    if (isOutdated) return null;
    const holdMs = commitMs + recordMs * commit.mutations.length;
    this.#freeAt = simulation.now + holdMs;
    await simulation.sleep(holdMs);
    return this.model.apply(commit);
  }
}

/** The processor of an instance, which does one thing after the other. */
class Processor {
  readonly #simulation: Simulation;
  #freeAt = 0;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  async use(ms: number): Promise<void> {
    const { now } = this.#simulation;
    this.#freeAt = Math.max(now, this.#freeAt) + ms;
    await this.#simulation.sleep(this.#freeAt - now);
  }
}

/** Time before the measurement, in milliseconds: instances that start at once first have to learn of each other. */
const WARM_UP_MS = 2_000;

/** Simulates instances for a time, each with its clients. Resolves to what those of each got. */
export async function shareStore(
  seed: number,
  times: Times,
  loads: readonly Load[],
  ms: number,
): Promise<Share[]> {
  const simulation = new Simulation(seed);
  const store = new LockedStore(simulation, times);
  const runUntil = async (end: number) => {
    simulation.after(end - simulation.now, () => {});
    await simulation.run(() => simulation.now >= end, Infinity);
  };
  const measurements = loads.map((load, index) => {
    const { slowness = 1, startsAtMs = 0 } = load;
    const node = new Node(simulation, `instance${index}`, 0);
    const measurement: Measurement = { latencies: [], failed: 0, headReads: 0, firstMs: Infinity };
    const onGet: Faults["onGet"] = (apply, [name]) => {
      if (name === HEAD_KEY[0]) measurement.headReads++;
      return apply();
    };
    const counted = faultyStore(store.clientOf(node, slowness), { onGet });
    const instance = new EventStore(APPLICATION, counted, { runtime: node });
    simulation.after(startsAtMs, () => {
      runClients(simulation, instance, node, load, times, measurement);
    });
    return measurement;
  });
  const lastStartMs = Math.max(...loads.map(({ startsAtMs = 0 }) => startsAtMs));
  await runUntil(simulation.now + lastStartMs + WARM_UP_MS);
  for (const measurement of measurements) {
    Object.assign(measurement, { latencies: [], failed: 0, headReads: 0 });
  }
  await runUntil(simulation.now + ms);
  return measurements.map(({ latencies, failed, headReads, firstMs }) => {
    const sorted = latencies.toSorted((one, other) => one - other);
    const p99Ms = sorted[Math.floor(0.99 * (sorted.length - 1))] ?? Infinity;
    return { done: latencies.length - failed, failed, p99Ms, headReads, firstMs };
  });
}

/**
 * Which part of its share each instance got, at least. The share is an equal part for each client, or for each instance
 * if that is less: a client alone cannot use more than one event of a commit, and many clients share those of one.
 */
export function leastPart(loads: readonly Load[], shares: readonly Share[]): number {
  const done = shares.reduce((sum, share) => sum + share.done, 0);
  const clients = loads.reduce((sum, load) => sum + load.clients, 0);
  const parts = shares.map((share, index) => {
    const ofClients = done * loads[index].clients / clients;
    const ofInstances = done / loads.length;
    return share.done / Math.min(ofClients, ofInstances);
  });
  return Math.min(...parts);
}

/** The outcomes of the commands of an instance so far. */
interface Measurement {
  latencies: number[];
  failed: number;
  headReads: number;
  firstMs: number;
}

function runClients(
  simulation: Simulation,
  { appender }: Instance,
  node: Node,
  { clients }: Load,
  { prepareMs, clientMs }: Times,
  measurement: Measurement,
): void {
  const begunAt = simulation.now;
  const processor = new Processor(simulation);
  const actor = node.newId();
  const newCommand = (): Command<unknown, EventBody> => {
    const { decide } = addPetCommand(node, actor, { name: "Rex", categoryId: 1n });
    return { decide, prepare: () => processor.use(prepareMs) };
  };
  const runClient = async () => {
    for (;;) {
      const startedAt = simulation.now;
      const isDone = await appender.append(newCommand()).then(() => true, () => false);
      if (!isDone) measurement.failed++;
      else measurement.firstMs = Math.min(measurement.firstMs, simulation.now - begunAt);
      measurement.latencies.push(simulation.now - startedAt);
      await simulation.sleep(clientMs);
    }
  };
  for (let client = 0; client < clients; client++) runClient();
}
