import { fetchFrom } from "../support/fetch_from.ts";
import { HEAD_KEY, kindPrefix } from "../../src/eventstore_less/keyspace.ts";
import type { Service } from "../../src/service.ts";
import type { Store } from "../../src/eventstore_less/store/store.ts";
import { type FaultProfile, NO_FAULTS } from "./fault_profile.ts";
import type { Batch, Exchange, KeyInUse, Operation, ReceivedResponse } from "./history.ts";
import { batchRequestOf, partsOf, readResults } from "./batch.ts";
import { checkExchange } from "./checker.ts";
import type { Code } from "./code_under_test.ts";
import { Node } from "./node.ts";
import { Oracle } from "./oracle.ts";
import type { Random } from "./random.ts";
import type { Receivers } from "./receivers.ts";
import { requestOf } from "./request_of.ts";
import { SimulatedStore, StoreClient } from "./simulated_store.ts";
import type { Simulation } from "./simulation.ts";

/** Maximum initial offset of a node's clock from the true time, in milliseconds. */
const CLOCK_OFFSET_MS = 2_000;

const WEBHOOK_KEY = new Uint8Array(32).fill(7);

interface Instance {
  node: Node;
  service: Service;
  /** Number of requests without a response. */
  open: number;
  isStopping: boolean;
  /** Called when the last open request of a stopping instance has its response. */
  onAnswered?: () => void;
}

export interface CommandOptions {
  /** The instance in which to run the command if it is running, instead of on a node of its own. */
  slot?: number;
  /** Time after which the command's own node dies if the command has not finished, in milliseconds. */
  diesAfterMs?: number;
  /** When the command's own node pauses, and for how long. */
  pause?: { afterMs: number; ms: number };
  /** The store to work on; by default that of the service. */
  store?: SimulatedStore;
}

export interface CommandResult<T> {
  isDone: boolean;
  value?: T;
  reason?: unknown;
}

/** One store, several nodes with an instance of the real service each, and nodes for the operators' tools. */
export class Cluster {
  readonly simulation: Simulation;
  readonly store: SimulatedStore;
  readonly oracle: Oracle;
  /** The broken promises, in the order in which they were seen. */
  readonly violations: string[] = [];
  readonly exchanges: Exchange[] = [];
  /** The fault profiles so far, for the report of a failing seed. */
  readonly faultProfiles: FaultProfile[] = [];
  /** Whether the service has recovered from all faults, so that requests may not fail. */
  hasRecovered = false;
  /** When it has recovered. */
  soundFrom = Infinity;
  /** The receivers of webhooks; `undefined` if the seed has none. */
  readonly receivers: Receivers | undefined;
  #code: Code;
  #instances: (Instance | undefined)[];
  #starts = 0;

  constructor(simulation: Simulation, code: Code, size: number, receivers?: Receivers) {
    this.simulation = simulation;
    this.receivers = receivers;
    this.#code = code;
    this.oracle = new Oracle(simulation, this.violations);
    this.store = new SimulatedStore(simulation);
    this.store.onCommit = (commit, node) => this.oracle.observe(commit, node);
    this.#instances = Array.from({ length: size }, () => undefined);
    for (let slot = 0; slot < size; slot++) this.start(slot);
  }

  get size(): number {
    return this.#instances.length;
  }

  nodeOf(slot: number): Node | undefined {
    return this.#instances[slot]?.node;
  }

  start(slot: number): void {
    const started = this.#startService(`service${slot}`);
    started.service.sweep.start();
    started.service.deliveries?.start();
    this.#instances[slot] = { ...started, open: 0, isStopping: false };
  }

  /** Removes a record of an Idempotency-Key from the store, as a damage of its file does. */
  loseRecord(random: Random): void {
    const { oracle, store: { model } } = this;
    const entries = model.all(kindPrefix(oracle.servedGeneration, "event_by_idempotency_key"));
    if (entries.length === 0) return;
    const { key, versionstamp } = random.pick(entries);
    this.simulation.trace(`the store loses ${key.join("/")}`);
    model.apply({ guard: { key, versionstamp }, mutations: [{ type: "delete", key }] });
    oracle.lostPositions.add(key.at(-1) as number);
  }

  /** Ends an instance as a power failure does. */
  kill(slot: number): void {
    this.#instances[slot]?.node.die();
    this.#instances[slot] = undefined;
  }

  /** Shuts an instance down as `serve()` does on SIGTERM. It accepts no further requests. */
  async stop(slot: number): Promise<void> {
    const instance = this.#instances[slot];
    if (instance === undefined || instance.isStopping) return;
    instance.isStopping = true;
    const { node, service } = instance;
    this.simulation.trace(`${node.name} shuts down`);
    const answered = new Promise<void>((resolve) => {
      instance.onAnswered = () => node.deliver(resolve);
    });
    if (instance.open === 0) instance.onAnswered?.();
    const isOver = new Promise<void>((resolve) => {
      const server = { shutdown: () => answered };
      // A paused node receives the signal after its pause.
      node.deliver(() => this.#code.shutDown(service, server).then(resolve));
    });
    const startAt = this.simulation.now;
    await Promise.race([isOver, died(node)]);
    const wasPaused = node.pausedBetween(startAt, this.simulation.now) > 0;
    if (node.alive && !wasPaused && instance.open > 0) {
      this.violations.push(
        `${node.name} shut down without a response to ${instance.open} requests`,
      );
    }
    node.die();
    if (this.#instances[slot] === instance) this.#instances[slot] = undefined;
  }

  /**
   * Sends a request, and records its exchange, or an exchange for each write of a batch. Resolves to none if the instance is
   * not running. `read` is the client.
   */
  async send(
    slot: number,
    sent: Operation | Batch,
    key: KeyInUse,
    read: (response: Response, node: Node) => Promise<ReceivedResponse> = readResponse,
  ): Promise<Exchange[]> {
    if (sent.kind !== "batch") {
      return await this.#send(slot, requestOf(sent, key), [sent], key, async (...received) => {
        return [await read(...received)];
      });
    }
    const parts = partsOf(sent);
    return await this.#send(slot, batchRequestOf(sent, key), parts, key, (response) => {
      return readResults(response, parts.length);
    });
  }

  /** Sends a request for some operations, of which each has an exchange of its own. */
  async #send(
    slot: number,
    request: Request,
    operations: readonly Operation[],
    key: KeyInUse,
    read: (response: Response, node: Node) => Promise<ReceivedResponse[]>,
  ): Promise<Exchange[]> {
    const instance = this.#instances[slot];
    if (instance === undefined || instance.isStopping) return [];
    const { node, service } = instance;
    const { simulation } = this;
    const exchanges = operations.map((operation): Exchange => ({
      operation,
      key,
      node,
      startStep: simulation.step,
      startAt: simulation.now,
      endStep: Infinity,
      endAt: Infinity,
      isFaultFree: this.#isFaultFree,
    }));
    this.exchanges.push(...exchanges);
    for (const operation of operations) {
      simulation.trace(`${node.name} <- ${JSON.stringify(operation)}`);
    }
    instance.open++;
    const answering = fetchFrom(service.handler)(request).then((it) => read(it, node))
      .catch((error) => void this.violations.push(`The handler rejected: ${error}`));
    const responses = await Promise.race([answering, died(node)]);
    instance.open--;
    if (instance.open === 0) instance.onAnswered?.();
    for (const [index, exchange] of exchanges.entries()) {
      exchange.response = responses?.[index];
      exchange.endStep = simulation.step;
      exchange.endAt = simulation.now;
      exchange.isFaultFree &&= this.#isFaultFree;
      const { status, body } = exchange.response ?? {};
      simulation.trace(`${node.name} -> ${status} ${body}`);
      this.violations.push(...checkExchange(exchange, this.oracle));
    }
    return exchanges;
  }

  /** Sends a request that is no exchange of the checker. Resolves to `undefined` if the instance does not answer. */
  async ask(slot: number, request: Request): Promise<Response | undefined> {
    const instance = this.#instances[slot];
    if (instance === undefined || instance.isStopping) return undefined;
    const { node, service } = instance;
    const name = `${request.method} ${request.url}`;
    this.simulation.trace(`${node.name} <- ${name}`);
    instance.open++;
    const response = await Promise.race([fetchFrom(service.handler)(request), died(node)]);
    instance.open--;
    if (instance.open === 0) instance.onAnswered?.();
    this.simulation.trace(`${node.name} -> ${response?.status} ${name}`);
    if (response?.status === 500) this.violations.push(`${name} failed on ${node.name}`);
    return response;
  }

  /** Ends the deliveries of all instances. */
  async stopDeliveries(): Promise<void> {
    const services = this.#instances.flatMap((instance) => instance?.service ?? []);
    await Promise.all(services.map(({ deliveries }) => deliveries?.stop()));
  }

  /** Runs deliveries from another store for some time, after some preparation. */
  async deliverFrom(
    store: SimulatedStore,
    ms: number,
    prepare: (service: Service) => Promise<void> = () => Promise.resolve(),
  ): Promise<void> {
    const { node, service } = this.#startService("other", store);
    await prepare(service);
    service.deliveries!.start();
    await this.simulation.sleep(ms);
    await service.deliveries!.stop();
    await service.appender.drain();
    service.store.close();
    node.die();
  }

  /** Runs a tool whose reads are retried, on a node of its own. */
  retryingCommand<T>(
    name: string,
    run: (deps: { store: Store; runtime: Node }) => Promise<T>,
    options: CommandOptions = {},
  ): Promise<CommandResult<T>> {
    const node = this.#createNode(name);
    const store = new this.#code.ResilientStore(
      new StoreClient(options.store ?? this.store, node, this.#code),
      { runtime: node, probeKey: HEAD_KEY, retryReadsMs: this.#code.RETRY_LIMIT_MS },
    );
    return this.#run(name, { node, store }, run({ store, runtime: node }), options);
  }

  /** Runs an operator's command: on a node of its own as the tools do, or in an instance as in development. */
  command<T>(
    name: string,
    run: (service: Service) => Promise<T>,
    options: CommandOptions = {},
  ): Promise<CommandResult<T>> {
    const within = this.#instances[options.slot ?? -1];
    if (within !== undefined && !within.isStopping) {
      return this.#run(name, { node: within.node }, run(within.service));
    }
    const { node, service } = this.#startService(name, options.store);
    const running = run(service).finally(() => service.appender.drain());
    return this.#run(name, { node, store: service.store }, running, options);
  }

  /** Awaits a command. If it has a store of its own, it also has a node of its own. */
  async #run<T>(
    name: string,
    { node, store }: { node: Node; store?: Store },
    running: Promise<T>,
    { diesAfterMs, pause }: CommandOptions = {},
  ): Promise<CommandResult<T>> {
    this.simulation.trace(`${name} starts on ${node.name}`);
    if (diesAfterMs !== undefined) this.simulation.after(diesAfterMs, () => node.die());
    if (pause !== undefined) this.simulation.after(pause.afterMs, () => node.pause(pause.ms));
    const result: CommandResult<T> = await Promise.race([
      running.then((value) => ({ isDone: true, value }), (reason) => ({ isDone: false, reason })),
      died(node),
    ]) ?? { isDone: false, reason: "died" };
    if (store !== undefined && node.alive) {
      store.close();
      node.die();
    }
    this.simulation.trace(`${name} on ${node.name} ends: ${result.reason ?? "done"}`);
    return result;
  }

  get #isFaultFree(): boolean {
    return this.store.faultProfile === NO_FAULTS && this.hasRecovered;
  }

  #createNode(role: string): Node {
    const offset = this.simulation.random.between(-CLOCK_OFFSET_MS, CLOCK_OFFSET_MS);
    return new Node(this.simulation, `${role}.${this.#starts++}`, offset);
  }

  #startService(role: string, store = this.store) {
    const node = this.#createNode(role);
    const client = new StoreClient(store, node, this.#code);
    const { createService, WebhookKeys } = this.#code;
    const service = createService({
      webhookKeys: this.receivers && WebhookKeys.of([WEBHOOK_KEY]),
      webhookSender: this.receivers?.senderOf(node),
      store: client,
      runtime: node,
      report: (level, event, details) =>
        this.simulation.trace(`${node.name} ${level} ${event} ${JSON.stringify(details ?? {})}`),
      isDurable: true,
    });
    return { node, service };
  }
}

function died(node: Node): Promise<undefined> {
  return new Promise((resolve) => node.onDeath(() => resolve(undefined)));
}

async function readResponse(response: Response): Promise<ReceivedResponse> {
  const { status, headers } = response;
  return { status, headers, body: await response.text() };
}
