import type { Commit, ListOptions, Store, StoreEntry } from "../../src/store/store.ts";
import type { Code } from "./code.ts";
import type { Node } from "./node.ts";
import type { ModelStore } from "./model_store.ts";
import type { Random } from "./random.ts";
import { type CommitFate, type FaultProfile, LATE_MS, type ReadFate } from "./fault_profile.ts";
import type { World } from "./world.ts";

/** Maximum delay of a `slow` answer, in milliseconds. It exceeds the time that the service waits. */
const SLOW_MS = 4_000;

/** A simulated store and the faults that its clients currently see. */
export interface SimulatedStore {
  world: World;
  model: ModelStore;
  /** The current faults. The simulation replaces the profile during a run. */
  faultProfile: FaultProfile;
  /** Until when the store is away, and whether it then refuses calls or does not answer. */
  away: { until: number; refuses: boolean };
  /** The node whose commit the store is applying. The oracle reads it. */
  committing: Node | undefined;
}

/** A node's connection to the store. It simulates everything that can happen to a call on the network. */
export class Connection implements Store {
  readonly #site: SimulatedStore;
  readonly #machine: Node;
  readonly #code: Pick<Code, "NotAttemptedError">;
  readonly #random: Random;
  #closed = false;
  #inFlight = new Set<(reason: Error) => void>();

  constructor(site: SimulatedStore, machine: Node, code: Pick<Code, "NotAttemptedError">) {
    this.#site = site;
    this.#machine = machine;
    this.#code = code;
    this.#random = site.world.random.fork();
  }

  get(key: Deno.KvKey): Promise<StoreEntry | null> {
    return this.#read(`get ${key.join("/")}`, () => this.#site.model.read(key));
  }

  list(range: Deno.KvListSelector, options: ListOptions): Promise<StoreEntry[]> {
    const name = Object.values(range).map((key) => key.join("/")).join(" to ");
    return this.#read(`list ${name}`, () => this.#site.model.scan(range, options));
  }

  commit(commit: Commit): Promise<string | null> {
    const { site: { model }, fate } = { site: this.#site, fate: this.#fate("commit") };
    const what = `commit of ${commit.mutations.length} (${fate})`;
    const land = () => {
      this.#site.committing = this.#machine;
      return model.apply(commit);
    };
    return this.#call(what, fate, land);
  }

  close(): void {
    if (this.#closed) throw new Error("The store was closed twice");
    this.#closed = true;
    for (const reject of this.#inFlight) reject(new Deno.errors.Interrupted("operation canceled"));
  }

  #read<T>(what: string, look: () => T): Promise<T> {
    const fate = this.#fate("read");
    return this.#call(`${what} (${fate})`, fate, look);
  }

  #fate(kind: "read"): ReadFate;
  #fate(kind: "commit"): CommitFate;
  #fate(kind: "read" | "commit"): CommitFate {
    return this.#random.weighted<CommitFate>(
      this.#site.faultProfile[kind] as FaultProfile["commit"],
    );
  }

  #call<T>(what: string, fate: CommitFate, act: () => T): Promise<T> {
    const { world } = this.#site;
    if (this.#closed) return Promise.reject(new Deno.errors.BadResource("Bad resource ID"));
    return new Promise((resolve, reject) => {
      this.#inFlight.add(reject);
      const answer = (told: () => void, after = this.#way()) => {
        world.after(after, () =>
          this.#machine.deliver(() => {
            this.#inFlight.delete(reject);
            told();
          }));
      };
      /**
       * Performs the call at the store after a delay, then calls `then` with a function that reports the
       * outcome.
       */
      const happen = (after: number, then: (told: () => void) => void) => {
        this.#arrive(after, () => {
          world.trace(`${this.#machine.name} ${what}`);
          const outcome = outcomeOf(act);
          world.trace(`  = ${outcome.text}`);
          then(() => outcome.error === undefined ? resolve(outcome.value!) : reject(outcome.error));
        }, () => answer(() => reject(new Error("connection refused"))));
      };
      const fail = () => reject(new Error("connection reset"));
      switch (fate) {
        case "answered":
          return happen(this.#way(), (told) => answer(told));
        case "locked":
          return answer(() => reject(new this.#code.NotAttemptedError("The store is locked")));
        case "failed":
          return answer(fail);
        case "silent":
          return;
        case "slow":
          return happen(this.#way(), (told) => answer(told, this.#random.between(0, SLOW_MS)));
        case "failedAfter":
          return happen(this.#way(), () => answer(fail));
        case "resent":
          // The network client got no answer to the first commit and sent it again.
          return happen(this.#way(), () => happen(this.#way(), (told) => answer(told)));
        case "resentLater":
          // The first commit is delayed, and the second overtakes it.
          happen(this.#late(), () => {});
          return happen(this.#way(), (told) => answer(told));
        case "silentAfter":
          return happen(this.#way(), () => {});
        case "late":
          return happen(this.#late(), (told) => answer(told));
        case "lateSilent":
          return happen(this.#late(), () => {});
      }
    });
  }

  /** Delivers a call to the store, even if its sender has died since. */
  #arrive(after: number, act: () => void, refuse: () => void): void {
    const { world, away } = this.#site;
    world.after(after, () => {
      if (world.now >= away.until) return act();
      if (away.refuses) return refuse();
      // The store does not answer. Some calls wait until it is back; the others are lost.
      if (this.#random.chance(0.5)) this.#arrive(away.until - world.now + this.#way(), act, refuse);
    });
  }

  #way(): number {
    const { latencyMs, tailProbability } = this.#site.faultProfile;
    const scale = this.#random.chance(tailProbability) ? 100 : 1;
    return latencyMs * scale * this.#random.between(0.2, 2);
  }

  #late(): number {
    return this.#random.between(LATE_MS.low, LATE_MS.high);
  }
}

function outcomeOf<T>(act: () => T): { value?: T; error?: unknown; text: string } {
  try {
    const value = act();
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
