import type { Runtime } from "../runtime.ts";

/** An instance that wins for so long, and so often, lets others go first for once. */
const ROW_LIMIT_MS = 500;
const ROW_LIMIT_COMMITS = 16;

/** Every so many losses in a row, an instance claims the head. */
const CLAIM_EVERY = 6;

/** How long others are remembered after they were met. */
const OTHERS_REMEMBERED_MS = 2_000;

/** The longest pause, counted in commits of the length of the last one, and in milliseconds. */
const PAUSE_LIMIT_TURNS = 4;
const PAUSE_LIMIT_MS = 500;

const JITTER_LIMIT_MS = 4;

/**
 * How instances that append to one log take turns. The one that has just won knows the new head before
 * all others, and would win again and again: so it makes a pause, for as many commits as it lost before.
 * One that never loses cannot know whether it is alone, and so makes a pause now and then.
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

  /** Whether another instance was first a moment ago. */
  get areOthersNear(): boolean {
    return this.#runtime.monotonicNow() < this.#othersUntil;
  }

  /** Whether pauses of others do not suffice, as where this instance is slower than they are. */
  get isStarving(): boolean {
    return this.#lost > 0 && this.#lost % CLAIM_EVERY === 0;
  }

  /** How long to wait before the next commit, in milliseconds, after another instance was first. */
  onConflict(): number {
    this.#lost++;
    this.#startRow();
    this.#othersUntil = this.#runtime.monotonicNow() + OTHERS_REMEMBERED_MS;
    // Hardly at all: the new head is known by now. By chance, so that those who lost to one do not meet again.
    return Math.ceil(Math.min(JITTER_LIMIT_MS, this.#lost) * this.#runtime.random());
  }

  /** How long to wait before the next commit, in milliseconds, after one that landed and took so long. */
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
