import type { Runtime } from "../runtime/runtime.ts";

/** After a series of commits this long and this many, an instance pauses once so that others can commit. */
const ROW_LIMIT_MS = 500;
const ROW_LIMIT_COMMITS = 16;

/** Number of conflicts in a row after which an instance claims the head. */
const CLAIM_EVERY = 6;

/** How long after a conflict an instance assumes that others are still appending. */
const OTHERS_REMEMBERED_MS = 2_000;

/** Longest pause: in multiples of the last commit's duration, and in milliseconds. */
const PAUSE_LIMIT_TURNS = 4;
const PAUSE_LIMIT_MS = 500;

const JITTER_LIMIT_MS = 4;

/**
 * Pauses that share one log fairly between the instances that append to it. The instance that has just
 * committed knows the new head first, so without a pause it would commit first every time. Its pause
 * grows with the number of conflicts that it had before. An instance without conflicts cannot know
 * whether it is alone, so it also pauses from time to time.
 */
export class ContentionBackoff {
  #runtime: Runtime;
  #lost = 0;
  #won = 0;
  #rowSince = 0;
  #othersUntil = -Infinity;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Whether this instance had a conflict within the last {@linkcode OTHERS_REMEMBERED_MS}. */
  get areOthersNear(): boolean {
    return this.#runtime.monotonicNow() < this.#othersUntil;
  }

  /** Whether the pauses of others do not suffice, for example because this instance is slower. */
  get isStarving(): boolean {
    return this.#lost > 0 && this.#lost % CLAIM_EVERY === 0;
  }

  /** Returns how many milliseconds to wait before the next commit, after a conflict. */
  onConflict(): number {
    this.#lost++;
    this.#startRow();
    this.#othersUntil = this.#runtime.monotonicNow() + OTHERS_REMEMBERED_MS;
    // Short, because the new head is already known. Random, so that the losers of one commit do not collide.
    return Math.ceil(Math.min(JITTER_LIMIT_MS, this.#lost) * this.#runtime.random());
  }

  /** Returns how many milliseconds to wait before the next commit, after one that took `commitMs`. */
  onCommitted(commitMs: number): number {
    const turns = this.#turnsToWait();
    this.#lost = 0;
    if (turns > 0) this.#startRow();
    else this.#won++;
    return Math.round(Math.min(PAUSE_LIMIT_MS, turns * commitMs * (0.5 + this.#runtime.random())));
  }

  #turnsToWait(): number {
    if (this.#lost > 0) return Math.min(PAUSE_LIMIT_TURNS, this.#lost);
    if (this.areOthersNear) return 1;
    const rowMs = this.#runtime.monotonicNow() - this.#rowSince;
    const isLongRow = this.#won >= ROW_LIMIT_COMMITS && rowMs >= ROW_LIMIT_MS;
    return isLongRow ? 2 : 0;
  }

  #startRow(): void {
    this.#won = 0;
    this.#rowSince = this.#runtime.monotonicNow();
  }
}
