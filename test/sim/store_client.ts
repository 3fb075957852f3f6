import type {
  Commit,
  Key,
  KeyRange,
  ListOptions,
  Store,
  StoreConnection,
  StoreEntry,
  StoreLimits,
} from "../../src/store/store.ts";
import { type CommitFault, LATE_MS, type ReadFault } from "./fault_profile.ts";
import type { Code } from "./load_code.ts";
import type { Node } from "./node.ts";
import type { Random } from "./random.ts";
import type { SimulatedStore } from "./simulated_store.ts";

/** Time after which a commit that meets a lock is not applied, in milliseconds. */
const LOCK_LIMIT_MS = 1_000;

/** Maximum delay of a `slow` response, in milliseconds. It exceeds the time that the service waits. */
const SLOW_MS = 4_000;

type StoreErrors = Pick<Code, "NotAppliedError" | "StoreAwayError" | "UnclearOutcomeError">;

/** A node's client of the simulated store. It injects the faults that a call can meet on the network. */
export class StoreClient implements Store {
  readonly #store: SimulatedStore;
  readonly #node: Node;
  readonly #code: StoreErrors;
  readonly #random: Random;
  /** Present while the client is locked out, because only a remote store replaces its primary. */
  connection?: StoreConnection;
  #isClosed = false;
  /** The functions that reject the calls in flight. */
  #inFlight = new Set<(reason: Error) => void>();

  constructor(store: SimulatedStore, node: Node, code: StoreErrors) {
    this.#store = store;
    this.#node = node;
    this.#code = code;
    this.#random = store.simulation.random.fork();
  }

  get limits(): StoreLimits {
    return this.#store.model.limits;
  }

  get(key: Key): Promise<StoreEntry | null> {
    return this.#read(`get ${key.join("/")}`, () => this.#store.model.read(key));
  }

  list(range: KeyRange, options: ListOptions): Promise<StoreEntry[]> {
    const name = Object.values(range).map((key) => key.join("/")).join(" to ");
    return this.#read(`list ${name}`, () => this.#store.model.scan(range, options));
  }

  /**
   * Makes commits meet a lock until the client connects again, as on a primary that was replaced. Reads stay fresh
   * here, although such a primary would answer them with old records for a while.
   */
  lockOut(): void {
    this.#store.simulation.trace(`${this.#node.name} is locked out`);
    this.connection = { reopen: () => Promise.resolve(void (this.connection = undefined)) };
  }

  commit(commit: Commit): Promise<string | null> {
    const isLockedOut = this.connection !== undefined;
    const fault = isLockedOut
      ? "lockedOut"
      : this.#random.weighted(this.#store.faultProfile.commit);
    return this.#call(`commit of ${commit.mutations.length}`, fault, () => {
      this.#store.committing = this.#node;
      return this.#store.model.apply(commit);
    });
  }

  close(): void {
    if (this.#isClosed) throw new Error("The store was closed twice");
    this.#isClosed = true;
    for (const reject of this.#inFlight) reject(new Deno.errors.Interrupted("operation canceled"));
  }

  #read<T>(name: string, read: () => T): Promise<T> {
    const fault: ReadFault = this.#random.weighted(this.#store.faultProfile.read);
    return this.#call(name, fault, read);
  }

  /** Calls the store: `perform` runs at the store, and its outcome travels back to the node. */
  #call<T>(name: string, fault: CommitFault | "lockedOut", perform: () => T): Promise<T> {
    const { simulation } = this.#store;
    if (this.#isClosed) return Promise.reject(new Deno.errors.BadResource("Bad resource ID"));
    return new Promise((resolve, reject) => {
      this.#inFlight.add(reject);
      const respond = (settle: () => void, afterMs = this.#latencyMs()) => {
        simulation.after(afterMs, () =>
          this.#node.deliver(() => {
            this.#inFlight.delete(reject);
            settle();
          }));
      };
      const fail = () => reject(new this.#code.UnclearOutcomeError("connection reset"));
      const lock = () => reject(new this.#code.NotAppliedError("The store is locked"));
      const refuse = () => reject(new this.#code.StoreAwayError("connection refused"));
      /**
       * Performs the call after a delay, then passes `then` a function that settles it with its outcome. If the
       * store refuses the connection, the call fails as `refused` says.
       */
      const performAfter = (
        afterMs: number,
        then: (settle: () => void) => void,
        refused = refuse,
      ) => {
        this.#arrive(afterMs, () => {
          simulation.trace(`${this.#node.name} ${name} (fault: ${fault})`);
          const outcome = outcomeOf(perform);
          simulation.trace(`  = ${outcome.text}`);
          then(() => outcome.error === undefined ? resolve(outcome.value!) : reject(outcome.error));
        }, () => respond(refused));
      };
      switch (fault) {
        case "none":
          return performAfter(this.#latencyMs(), (settle) => respond(settle));
        case "locked":
          return respond(lock);
        case "lockedOut":
          return respond(lock, LOCK_LIMIT_MS);
        case "failed":
          return respond(fail);
        case "silent":
          return;
        case "slow":
          return performAfter(
            this.#latencyMs(),
            (settle) => respond(settle, this.#random.between(0, SLOW_MS)),
          );
        case "failedAfter":
          return performAfter(this.#latencyMs(), () => respond(fail));
        case "resent":
          // The network client got no response to the first commit and sent it again. A refusal of the second
          // does not show whether the first landed.
          return performAfter(
            this.#latencyMs(),
            () => performAfter(this.#latencyMs(), (settle) => respond(settle), fail),
          );
        case "resentLater":
          // The first commit is delayed, and the second overtakes it.
          performAfter(this.#lateMs(), () => {}, fail);
          return performAfter(this.#latencyMs(), (settle) => respond(settle), fail);
        case "silentAfter":
          return performAfter(this.#latencyMs(), () => {});
        case "late":
          return performAfter(this.#lateMs(), (settle) => respond(settle));
        case "lateSilent":
          return performAfter(this.#lateMs(), () => {});
      }
    });
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

  #lateMs(): number {
    return this.#random.between(LATE_MS.low, LATE_MS.high);
  }
}

function outcomeOf<T>(perform: () => T): { value?: T; error?: unknown; text: string } {
  try {
    const value = perform();
    const text = Array.isArray(value)
      ? `${value.length} entries`
      : value === null
      ? "null"
      : typeof value === "string"
      ? value
      : `entry of ${(value as StoreEntry).versionstamp}`;
    return { value, text };
  } catch (error) {
    return { error, text: String(error) };
  }
}
