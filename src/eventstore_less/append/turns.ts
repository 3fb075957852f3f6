/** How instances share one log: "Several instances" in eventstore_less/internals.md explains it. */

import type { HeadReader } from "../log/head_reader.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";
import type { Store } from "../store/store.ts";
import { TurnRequests } from "./turn_requests.ts";

/** Longest wait for the next commit of another instance: as a multiple of the own last step, and in milliseconds. */
const WAIT_STEPS = 5;
const WAIT_LIMIT_MS = 500;

/**
 * The same multiple for the extra turn of an instance that asks. It is half as long, so that instances that wait for
 * this one do not give up.
 */
const EXTRA_STEPS = 2.5;

/** If a step takes longer, its plan has too many commands: the others do not wait so long for its commit. */
const PLAN_LIMIT_MS = WAIT_LIMIT_MS / EXTRA_STEPS;

/** Each turn shortens the longest known one to this part, because the next turn may be that of a faster instance. */
const TURN_DECAY = 0.9;

/** Number of looks at the head in the time of a step. */
const LOOKS_PER_STEP = 8;

/** Maximum number of turns that an instance leaves to others. */
const TURNS_LIMIT = 8;

export interface TurnsDeps {
  heads: HeadReader;
  runtime: Runtime;
  store: Store;
}

/** Decides when an instance plans its next commit, and of how many commands at most. */
export class Turns {
  #heads: HeadReader;
  #runtime: Runtime;
  #requests: TurnRequests;
  /** Number of turns that others may still take, and how many of these, the last ones, are extra. */
  #left = 0;
  #extra = 0;
  /** Number of turns that this instance left to others after its last commit, besides the extra ones. */
  #others = 0;
  /** Number of turns that others took since the last own commit. */
  #taken = 0;
  /** Whether this instance has lost a turn since the last own commit. */
  #hasLost = false;
  /** The version of the head that was seen last, and since when. */
  #version: string | null | undefined;
  #since = 0;
  /** How long the last own step took, and the longest of the last turns of other instances, in milliseconds. */
  #stepMs = 0;
  #turnMs = 0;
  /** Maximum number of commands of the next plan. */
  limit = Infinity;

  constructor({ heads, runtime, store }: TurnsDeps) {
    this.#heads = heads;
    this.#runtime = runtime;
    this.#requests = new TurnRequests(store, runtime);
  }

  /** Resolves when the others have taken their turns, or take none. Rejects if the head cannot be read. */
  async wait(): Promise<void> {
    for (let look = 0; this.#left > 0; look++) {
      const { versionstamp } = await this.#heads.read();
      const now = this.#runtime.monotonicNow();
      const elapsedMs = now - this.#since;
      if (versionstamp !== this.#version) {
        // The first look may come late, because no command was waiting.
        const turnMs = look > 0 ? elapsedMs : 0;
        this.#turnMs = Math.max(turnMs, TURN_DECAY * this.#turnMs);
        this.#version = versionstamp;
        this.#since = now;
        this.#taken++;
        this.#left--;
      } else if (elapsedMs < this.#waitMs) {
        await this.#rest();
      } else {
        this.#left = 0;
        this.#turnMs *= TURN_DECAY;
      }
    }
  }

  get #waitMs(): number {
    const stepMs = Math.max(this.#stepMs, this.#requests.stepMs);
    const isExtra = this.#left <= this.#extra;
    if (isExtra) return Math.min(WAIT_LIMIT_MS, EXTRA_STEPS * stepMs);
    // The next plan of another instance may have twice as many commands.
    return Math.min(WAIT_LIMIT_MS, Math.max(WAIT_STEPS * stepMs, 2 * this.#turnMs));
  }

  /** At least a millisecond, so that the looks leave the processor to other instances. */
  #rest(): Promise<void> {
    return sleep(this.#runtime, Math.max(1, this.#stepMs / LOOKS_PER_STEP));
  }

  /** Call it after a commit landed. `stepMs` is how long its step took, in milliseconds. */
  onLanded(stepMs: number): void {
    const now = this.#runtime.monotonicNow();
    const seen = this.#hasLost ? Math.max(1, this.#taken) : this.#taken;
    // A turn that nobody took has ended the wait, so the turns after it were not seen.
    this.#others = Math.min(TURNS_LIMIT, Math.max(seen, this.#others - 1));
    this.#extra = this.#requests.take();
    this.#left = Math.min(TURNS_LIMIT, this.#others + this.#extra);
    this.#taken = 0;
    this.#hasLost = false;
    this.#version = this.#heads.latest!.versionstamp;
    this.#since = now;
    // A step may take very long, as on a suspended machine.
    this.#stepMs = Math.min(stepMs, WAIT_LIMIT_MS);
    this.#requests.onLanded();
  }

  /** Call it after a plan was confirmed, with a commit or without one. */
  onConfirmed(): void {
    this.limit *= 2;
  }

  /**
   * Call it if the head moved before a plan was confirmed. `count` is the number of its commands, and `stepMs` is how
   * long its step took, in milliseconds.
   */
  onLost(count: number, stepMs: number): void {
    this.#hasLost = true;
    if (stepMs > PLAN_LIMIT_MS) this.limit = Math.max(1, Math.floor(count / 2));
    this.#requests.onLost(stepMs);
  }
}
