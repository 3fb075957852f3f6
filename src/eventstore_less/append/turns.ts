/** How instances share one log: "Several instances" in eventstore_less/README.md explains it. */

import type { HeadReader } from "../log/head_reader.ts";
import { type Runtime, sleep } from "../runtime/runtime.ts";

/** Longest wait for the next commit of another instance: as a multiple of the own last step, and in milliseconds. */
const WAIT_STEPS = 5;
const WAIT_LIMIT_MS = 500;

/**
 * The same multiple for the extra turn of {@linkcode INVITE_INTERVAL_MS}. It is half as long, so that instances that
 * wait for this one do not give up.
 */
const INVITATION_STEPS = 2.5;

/** Number of looks at the head in the time of a step. */
const LOOKS_PER_STEP = 8;

/** Maximum number of turns that an instance leaves to others. */
const TURNS_LIMIT = 8;

/**
 * Time between two extra turns that an instance leaves, in milliseconds. It leaves them because it cannot see others
 * that lose every commit.
 */
const INVITE_INTERVAL_MS = 1_000;

/** Decides when an instance plans its next commit, and of how many commands at most. */
export class Turns {
  #heads: HeadReader;
  #runtime: Runtime;
  /** Number of turns that others may still take, and whether the last of them is the extra one. */
  #left = 0;
  #isInviting = false;
  /** Number of turns that others took since the last own commit. */
  #taken = 0;
  /** Whether this instance has lost a turn since the last own commit. */
  #hasLost = false;
  /** The version of the head that was seen last, and since when. */
  #version: string | null | undefined;
  #since = 0;
  /** How long the last own step took, and the last turn of another instance, in milliseconds. */
  #stepMs = 0;
  #turnMs = 0;
  #invitedAt = -Infinity;
  /** Maximum number of commands of the next plan. */
  limit = Infinity;

  constructor(heads: HeadReader, runtime: Runtime) {
    this.#heads = heads;
    this.#runtime = runtime;
  }

  /** Resolves when the others have taken their turns, or take none. Rejects if the head cannot be read. */
  async wait(): Promise<void> {
    for (let look = 0; this.#left > 0; look++) {
      const { versionstamp } = await this.#heads.read();
      const now = this.#runtime.monotonicNow();
      const elapsedMs = now - this.#since;
      if (versionstamp !== this.#version) {
        // The first look may come late, because no command was waiting.
        if (look > 0) this.#turnMs = elapsedMs;
        this.#version = versionstamp;
        this.#since = now;
        this.#taken++;
        this.#left--;
      } else if (elapsedMs < this.#waitMs) {
        await this.#rest();
      } else {
        this.#left = 0;
        this.#turnMs = 0;
      }
    }
  }

  get #waitMs(): number {
    const isInvitation = this.#isInviting && this.#left === 1;
    if (isInvitation) return Math.min(WAIT_LIMIT_MS, INVITATION_STEPS * this.#stepMs);
    // The next plan of another instance may have twice as many commands as its last one.
    return Math.min(WAIT_LIMIT_MS, Math.max(WAIT_STEPS * this.#stepMs, 2 * this.#turnMs));
  }

  /** At least a millisecond, so that the looks leave the processor to other instances. */
  #rest(): Promise<void> {
    return sleep(this.#runtime, Math.max(1, this.#stepMs / LOOKS_PER_STEP));
  }

  /** Call it after a commit landed. `stepMs` is how long its step took, in milliseconds. */
  onLanded(stepMs: number): void {
    const now = this.#runtime.monotonicNow();
    const others = this.#hasLost ? Math.max(1, this.#taken) : this.#taken;
    this.#isInviting = now - this.#invitedAt >= INVITE_INTERVAL_MS;
    if (this.#isInviting) this.#invitedAt = now;
    this.#left = Math.min(TURNS_LIMIT, this.#isInviting ? others + 1 : others);
    this.#taken = 0;
    this.#hasLost = false;
    this.#version = this.#heads.latest!.versionstamp;
    this.#since = now;
    // A step may take very long, as on a suspended machine.
    this.#stepMs = Math.min(stepMs, WAIT_LIMIT_MS);
  }

  /** Call it after a plan was confirmed, with a commit or without one. */
  onConfirmed(): void {
    this.limit *= 2;
  }

  /** Call it if the head moved before a plan was confirmed. `count` is the number of its commands. */
  onLost(count: number): void {
    this.#hasLost = true;
    this.limit = Math.max(1, Math.floor(count / 2));
  }
}
