/** How instances share one log: "Several instances" in the engine's README.md says it. */

import type { HeadReader } from "../log/head_reader.ts";
import { type Runtime, sleep } from "../../runtime/runtime.ts";

/** How long an instance waits for the next commit of another one, in durations of its own last step, and at most, in milliseconds. */
const WAIT_STEPS = 3;
const WAIT_LIMIT_MS = 500;

/** Number of looks at the head in the time of a step. */
const LOOKS_PER_STEP = 8;

/** Maximum number of turns that an instance leaves to others. */
const TURNS_LIMIT = 8;

/** Time after which an instance leaves one turn more, in milliseconds. It cannot know whether others lose every commit. */
const INVITE_INTERVAL_MS = 1_000;

/** Number of commits lost in a row after which each plan has half as many commands: a small plan is quick. */
const LOSSES_LIMIT = 4;

/** Decides when an instance plans its next commit, and of how many commands at most. */
export class Turns {
  #heads: HeadReader;
  #runtime: Runtime;
  /** Number of turns that are left to others. */
  #left = 0;
  /** Number of turns that others took since the last own commit, and of own commits that were lost since then. */
  #taken = 0;
  #losses = 0;
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

  /** Twice as long as the last turn of another instance, because its next plan may have twice as many commands. */
  get #waitMs(): number {
    return Math.min(WAIT_LIMIT_MS, Math.max(WAIT_STEPS * this.#stepMs, 2 * this.#turnMs));
  }

  #rest(): Promise<void> {
    const restMs = this.#stepMs / LOOKS_PER_STEP;
    return restMs < 1 ? this.#runtime.nextTurn() : sleep(this.#runtime, restMs);
  }

  /** A commit landed, after a step that took so many milliseconds. */
  onLanded(stepMs: number): void {
    const now = this.#runtime.monotonicNow();
    const others = Math.max(this.#taken, this.#losses > 0 ? 1 : 0);
    const isInvitationDue = now - this.#invitedAt >= INVITE_INTERVAL_MS;
    this.#left = Math.min(TURNS_LIMIT, isInvitationDue ? others + 1 : others);
    if (isInvitationDue) this.#invitedAt = now;
    this.#taken = 0;
    this.#losses = 0;
    this.#version = this.#heads.latest!.versionstamp;
    this.#since = now;
    this.#stepMs = stepMs;
    this.limit *= 2;
  }

  /** The head moved before a plan of so many commands was proven. */
  onLost(count: number): void {
    this.#losses++;
    if (this.#losses >= LOSSES_LIMIT) this.limit = Math.max(1, Math.floor(count / 2));
    this.#version = this.#heads.latest!.versionstamp;
  }
}
