import {
  type Commit,
  type Key,
  type KeyRange,
  type ListOptions,
  type Snapshot,
  type Store,
  STORE_LIMITS,
  type StoreEntry,
} from "../../src/eventstore_less/store/store.ts";
import type { Code } from "./code_under_test.ts";
import { type CallFault, LATE_MS, NO_FAULTS } from "./fault_profile.ts";
import { ModelStore } from "./model_store.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import type { Simulation } from "./simulation.ts";

/** Limits of commits that a few events reach. */
const SMALL_LIMITS = { ...STORE_LIMITS, commitMutations: 12 };

/** Maximum delay of a slow response, in milliseconds. It exceeds the time that the service waits. */
const SLOW_MS = 4_000;

/** A store that all nodes share: its exact contents, and the faults that its clients currently see. */
export class SimulatedStore {
  readonly simulation: Simulation;
  readonly model: ModelStore;
  /** Called synchronously with every commit of a node that was applied. */
  onCommit = (_commit: Commit, _node: Node): void => {};
  faultProfile = NO_FAULTS;
  /** Until when the store is unavailable, and whether it then refuses calls or does not respond. */
  outage = { until: -Infinity, refuses: true };

  constructor(simulation: Simulation) {
    this.simulation = simulation;
    const limits = simulation.random.pick([STORE_LIMITS, SMALL_LIMITS]);
    this.model = new ModelStore(limits);
  }

  commit(commit: Commit, node: Node): string | null {
    const versionstamp = this.model.apply(commit);
    if (versionstamp !== null) this.onCommit(commit, node);
    return versionstamp;
  }
}

/** A node's client of the simulated store. It injects the faults that a call can meet on the network. */
export class StoreClient implements Store {
  readonly limits;
  readonly #store: SimulatedStore;
  readonly #node: Node;
  readonly #code: Code;
  readonly #random: Random;
  #isClosed = false;
  #inFlight = new Set<(reason: Error) => void>();

  constructor(store: SimulatedStore, node: Node, code: Code) {
    this.limits = store.model.limits;
    this.#store = store;
    this.#node = node;
    this.#code = code;
    this.#random = store.simulation.random.fork();
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#read(`get ${key.join("/")}`, () => this.#store.model.read(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    return this.#read(`list ${nameOf(range)}`, () => this.#store.model.scan(range, options));
  }

  snapshot(
    keys: readonly Key[],
    ranges: readonly KeyRange[],
    options: ListOptions,
  ): Promise<Snapshot> {
    const names = [...keys.map((key) => key.join("/")), ...ranges.map(nameOf)];
    const read = () => this.#store.model.view(keys, ranges, options);
    return this.#read(`snapshot ${names.join(" and ")}`, read);
  }

  commit(commit: Commit): Promise<string | null> {
    const fault = this.#random.weighted(this.#store.faultProfile.commit);
    return this.#call(
      `commit of ${commit.mutations.length}`,
      fault,
      () => this.#store.commit(commit, this.#node),
    );
  }

  close(): void {
    if (this.#isClosed) throw new Error("The store was closed twice");
    this.#isClosed = true;
    for (const reject of this.#inFlight) reject(new Deno.errors.Interrupted("operation canceled"));
  }

  #read<T>(name: string, read: () => T): Promise<T> {
    return this.#call(name, this.#random.weighted(this.#store.faultProfile.read), read);
  }

  /** Calls the store: `perform` runs at the store, and its outcome travels back to the node. */
  #call<T>(name: string, fault: CallFault, perform: () => T): Promise<T> {
    const { simulation } = this.#store;
    const { NotAppliedError, StoreAwayError, UnclearOutcomeError } = this.#code;
    if (this.#isClosed) return Promise.reject(new Deno.errors.BadResource("Bad resource ID"));
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#inFlight.add(reject);
    const respond = (settle: () => void, afterMs = this.#latencyMs()) => {
      simulation.after(afterMs, () =>
        this.#node.deliver(() => {
          this.#inFlight.delete(reject);
          settle();
        }));
    };
    const fail = () => reject(new UnclearOutcomeError("connection reset"));
    const lock = () => reject(new NotAppliedError("The store is locked"));
    const refuse = () => reject(new StoreAwayError("connection refused"));
    /** Sends the call. Its outcome goes to `answer`. */
    const send = (
      when: "soon" | "late",
      answer: (settle: () => void) => void = () => {},
      refused = refuse,
    ) => {
      const afterMs = when === "late"
        ? this.#random.between(LATE_MS.low, LATE_MS.high)
        : this.#latencyMs();
      this.#arrive(afterMs, () => {
        simulation.trace(`${this.#node.name} ${name} (fault: ${fault})`);
        const [settle, text] = outcomeOf(perform, resolve, reject);
        simulation.trace(`  = ${text}`);
        answer(settle);
      }, () => respond(refused));
    };
    const fates: Record<typeof fault, () => void> = {
      none: () => send("soon", respond),
      slow: () => send("soon", (settle) => respond(settle, this.#random.between(0, SLOW_MS))),
      late: () => send("late", respond),
      // The call never arrives.
      locked: () => respond(lock),
      failed: () => respond(fail),
      silent: () => {},
      // The sender does not learn the outcome.
      failedAfter: () => send("soon", () => respond(fail)),
      silentAfter: () => send("soon"),
      lateSilent: () => send("late"),
      // The network client sends the call again. A refusal of either does not show whether the other one landed.
      resent: () => send("soon", () => send("soon", respond, fail)),
      resentLater: () => {
        send("late", undefined, fail);
        send("soon", respond, fail);
      },
    };
    fates[fault]();
    return promise;
  }

  /** Delivers a call to the store, even if its sender has died since. */
  #arrive(afterMs: number, perform: () => void, refuse: () => void): void {
    const { simulation, outage } = this.#store;
    simulation.after(afterMs, () => {
      if (simulation.now >= outage.until) return perform();
      if (outage.refuses) return refuse();
      // Some calls wait until the outage is over; the others are lost.
      if (this.#random.chance(0.5)) {
        this.#arrive(outage.until - simulation.now + this.#latencyMs(), perform, refuse);
      }
    });
  }

  #latencyMs(): number {
    const { latencyMs, tailProbability } = this.#store.faultProfile;
    const scale = this.#random.chance(tailProbability) ? 100 : 1;
    return latencyMs * scale * this.#random.between(0.2, 2);
  }
}

function nameOf(range: KeyRange): string {
  return Object.values(range).map((key) => key.join("/")).join(" to ");
}

/** Performs a call. Returns the function that settles it, and its outcome as text. */
function outcomeOf<T>(
  perform: () => T,
  resolve: (value: T) => void,
  reject: (reason: unknown) => void,
): [settle: () => void, text: string] {
  try {
    const value = perform();
    const isList = Array.isArray(value);
    const text = isList ? `${value.length} entries` : JSON.stringify(value, ["versionstamp"]);
    return [() => resolve(value), text];
  } catch (error) {
    return [() => reject(error), String(error)];
  }
}
