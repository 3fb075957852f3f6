import type { Service } from "../../src/service.ts";
import type { Commit, Store } from "../../src/store/store.ts";
import { assertDescribed } from "../support/assert_described.ts";
import type { Code } from "./code.ts";
import { Connection, type SimulatedStore } from "./connection.ts";
import type { Answer, Ask, Bearer, CommandOutcome, Exchange, History } from "./history.ts";
import { Node } from "./node.ts";
import { ModelStore } from "./model_store.ts";
import { Oracle } from "./oracle.ts";
import { Violations } from "./violations.ts";
import { CALM } from "./fault_profile.ts";
import { World } from "./world.ts";

/** Maximum delay until the store removes an expired record, in milliseconds. */
const EXPIRY_LAG_MS = 60_000;

/** Maximum initial offset of a node's clock from the true time, in milliseconds. */
const CLOCK_OFFSET_MS = 2_000;

/** One instance of the service and its node. */
interface Instance {
  machine: Node;
  service: Service;
  /** Number of requests without an answer. */
  open: number;
  isStopping: boolean;
  /** Called when the last open request of a stopping instance has its answer. */
  onAnswered?: () => void;
}

/** How to run a command. */
export interface Circumstances {
  /**
   * The instance in which to run the command, if that instance is up. Otherwise the command gets its own
   * node.
   */
  slot?: number;
  /** Time after which the command's own node dies, unless the command has finished, in milliseconds. */
  diesAfterMs?: number;
}

export interface RetryingCircumstances {
  diesAfterMs?: number;
  /** When the node pauses, and for how long. */
  pause?: { afterMs: number; ms: number };
  /** The store to work on, if it is not that of the service. */
  site?: SimulatedStore;
}

export interface CommandResult<T> {
  outcome: CommandOutcome;
  value?: T;
  reason?: unknown;
}

/** One store, some instances of the real service on it, and the operators' tools. */
export class Fleet {
  readonly world: World;
  readonly site: SimulatedStore;
  readonly oracle: Oracle;
  readonly violations = new Violations();
  readonly history: History = { exchanges: [], keyCommands: [], exports: [] };
  /** Number of requests without an answer on nodes that are alive. */
  open = 0;
  #code: Code;
  #instances: (Instance | undefined)[];
  #starts = 0;

  constructor(world: World, code: Code, size: number) {
    this.world = world;
    this.#code = code;
    this.oracle = new Oracle(world, this.violations);
    const random = world.random.fork();
    const model: ModelStore = new ModelStore({
      now: () => world.now,
      expiryLagMs: () => random.between(0, EXPIRY_LAG_MS),
      committed: (commit: Commit) => this.oracle.observe(commit, this.site.committing!, model),
    });
    const away = { until: -Infinity, refuses: true };
    this.site = { world, model, faultProfile: CALM, away, committing: undefined };
    this.#instances = Array.from({ length: size }, () => undefined);
    for (let slot = 0; slot < size; slot++) this.start(slot);
  }

  get size(): number {
    return this.#instances.length;
  }

  machineOf(slot: number): Node | undefined {
    return this.#instances[slot]?.machine;
  }

  start(slot: number): void {
    const { machine, service } = this.#boot(`service${slot}`);
    this.#instances[slot] = { machine, service, open: 0, isStopping: false };
  }

  /** Ends an instance as a power failure does. */
  kill(slot: number): void {
    this.#instances[slot]?.machine.die();
    this.#instances[slot] = undefined;
  }

  /** Shuts an instance down as `serve()` does on SIGTERM. It accepts no further requests. */
  async stop(slot: number): Promise<void> {
    const instance = this.#instances[slot];
    if (instance === undefined || instance.isStopping) return;
    instance.isStopping = true;
    const { machine, service } = instance;
    this.world.trace(`${machine.name} shuts down`);
    const answered = new Promise<void>((resolve) => {
      instance.onAnswered = () => machine.deliver(resolve);
    });
    if (instance.open === 0) instance.onAnswered?.();
    const isOver = new Promise<void>((resolve) => {
      const server = { shutdown: () => answered };
      machine.deliver(() => this.#code.shutDown(service, server).then(resolve));
    });
    const startAt = this.world.now;
    await Promise.race([isOver, died(machine)]);
    const isPunctual = machine.alive && machine.pausedBetween(startAt, this.world.now) === 0;
    if (isPunctual && instance.open > 0) {
      this.violations.add(`${machine.name} shut down with ${instance.open} requests open`);
    }
    machine.die();
    if (this.#instances[slot] === instance) this.#instances[slot] = undefined;
  }

  /**
   * Sends a request to an instance and records the exchange. Resolves to `undefined` if the instance is not
   * running.
   */
  async send(slot: number, ask: Ask, bearer: Bearer): Promise<Exchange | undefined> {
    const instance = this.#instances[slot];
    if (instance === undefined || instance.isStopping) return undefined;
    const { machine, service } = instance;
    const { world } = this;
    const exchange: Exchange = {
      ask,
      bearer,
      machine,
      startStep: world.step,
      startAt: world.now,
      endStep: Infinity,
      endAt: Infinity,
      undisturbed: this.#isUndisturbed,
    };
    this.history.exchanges.push(exchange);
    world.trace(`${machine.name} <- ${JSON.stringify(ask)}`);
    instance.open++;
    this.open++;
    const request = requestOf(ask, bearer);
    const answering = service.handler(request).then(readAnswer).then((answer) => {
      this.#expectDescribed(request, answer);
      return answer;
    }, (error) => void this.violations.add(`the handler rejects: ${error}`));
    exchange.answer = await Promise.race([answering, died(machine)]);
    instance.open--;
    if (instance.open === 0) instance.onAnswered?.();
    this.open--;
    exchange.endStep = world.step;
    exchange.endAt = world.now;
    exchange.undisturbed &&= this.#isUndisturbed;
    const { status, body } = exchange.answer ?? {};
    world.trace(`${machine.name} -> ${status} ${body}`);
    return exchange;
  }

  /** Runs a tool on its own node, through a RetryingStore. */
  async retryingCommand<T>(
    name: string,
    run: (parts: { store: Store; runtime: Node }) => Promise<T>,
    { diesAfterMs, pause, site = this.site }: RetryingCircumstances = {},
  ): Promise<CommandResult<T>> {
    const machine = this.#newMachine(name);
    this.world.trace(`${name} begins on ${machine.name}`);
    if (diesAfterMs !== undefined) this.world.after(diesAfterMs, () => machine.die());
    if (pause !== undefined) this.world.after(pause.afterMs, () => machine.pause(pause.ms));
    const bounded = new this.#code.BoundedStore(new Connection(site, machine), machine);
    const store = new this.#code.RetryingStore(bounded, machine);
    const running = run({ store, runtime: machine }).then(
      (value): CommandResult<T> => ({ outcome: "done", value }),
      (reason): CommandResult<T> => ({ outcome: "unclear", reason }),
    );
    const result = await Promise.race([running, died(machine)]) ??
      { outcome: "unclear", reason: "died" };
    if (machine.alive) store.close();
    machine.die();
    this.#traceResult(name, machine, result);
    return result;
  }

  /** Runs an operator's command: on its own node as the tools do, or within an instance as in development. */
  async command<T>(
    name: string,
    run: (service: Service) => Promise<T>,
    { slot, diesAfterMs }: Circumstances = {},
  ): Promise<CommandResult<T>> {
    const within = slot === undefined ? undefined : this.#instances[slot];
    const isWithin = within !== undefined && !within.isStopping;
    const { machine, service } = isWithin ? within : this.#boot(name);
    this.world.trace(`${name} begins on ${machine.name}`);
    if (diesAfterMs !== undefined && !isWithin) {
      this.world.after(diesAfterMs, () => machine.die());
    }
    const running = (async (): Promise<CommandResult<T>> => {
      try {
        return { outcome: "done", value: await run(service) };
      } catch (reason) {
        const { code } = reason as { code?: string };
        return { outcome: nothingStored(code) ? "failed" : "unclear", reason };
      } finally {
        if (!isWithin) await service.appender.drain();
      }
    })();
    const result = await Promise.race([running, died(machine)]) ??
      { outcome: "unclear", reason: "died" };
    if (!isWithin && machine.alive) {
      service.store.close();
      machine.die();
    }
    this.#traceResult(name, machine, result);
    return result;
  }

  #traceResult(name: string, machine: Node, { outcome, reason }: CommandResult<unknown>): void {
    const words = reason === undefined ? "" : `: ${reason}`;
    this.world.trace(`${name} on ${machine.name} is ${outcome}${words}`);
  }

  #expectDescribed({ method, url }: Request, answer: Answer): void {
    try {
      assertDescribed(method, url, answer);
    } catch (error) {
      this.violations.add((error as Error).message);
    }
  }

  get #isUndisturbed(): boolean {
    return this.site.faultProfile === CALM && this.isCalm;
  }

  /** Whether the service has recovered, so that requests may not fail. */
  isCalm = false;

  #newMachine(role: string): Node {
    const offset = this.world.random.between(-CLOCK_OFFSET_MS, CLOCK_OFFSET_MS);
    return new Node(this.world, `${role}.${this.#starts++}`, offset);
  }

  #boot(role: string) {
    const machine = this.#newMachine(role);
    const connection = new Connection(this.site, machine);
    const service = this.#code.createService({
      store: connection,
      runtime: machine,
      report: (level, event, details) =>
        this.world.trace(`${machine.name} ${level} ${event} ${JSON.stringify(details ?? {})}`),
      isDurable: true,
    });
    return { machine, service };
  }
}

function died(machine: Node): Promise<undefined> {
  return new Promise((resolve) => machine.onDeath(() => resolve(undefined)));
}

function nothingStored(code: string | undefined): boolean {
  return code === "store_unavailable" || code === "overloaded" || code === "shutting_down";
}

function requestOf(ask: Ask, bearer: Bearer): Request {
  const headers: Record<string, string> = {};
  if (bearer.kind !== "nobody") headers.authorization = `Bearer ${bearer.token}`;
  switch (ask.kind) {
    case "create": {
      const { name, status, categoryId, idempotencyKey, invalid } = ask;
      headers["content-type"] = "application/json";
      if (idempotencyKey !== undefined) headers["idempotency-key"] = idempotencyKey;
      const body = JSON.stringify({ name, status, categoryId: invalid ? "none" : categoryId });
      return new Request("http://localhost/v1/pets", { method: "POST", headers, body });
    }
    case "list": {
      const search = new URLSearchParams();
      for (const name of ["limit", "status", "cursor"] as const) {
        if (ask[name] !== undefined) search.set(name, String(ask[name]));
      }
      if (ask.held !== undefined) headers["if-none-match"] = ask.held.etag;
      return new Request(`http://localhost/v1/pets?${search}`, { headers });
    }
    case "get":
      if (ask.held !== undefined) headers["if-none-match"] = ask.held.etag;
      return new Request(`http://localhost/v1/pets/${ask.petId}`, { headers });
  }
}

async function readAnswer(response: Response): Promise<Answer> {
  const { status, headers } = response;
  return { status, headers, body: await response.text() };
}
