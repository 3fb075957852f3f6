import type { Runtime } from "../../runtime/runtime.ts";

/** After a streak of commits this long and this many, an instance pauses once so that others can commit. */
const STREAK_LIMIT_MS = 500;
const STREAK_LIMIT_COMMITS = 16;

/** Number of conflicts in a row after which an instance touches the head. */
const TOUCH_EVERY = 6;

/** How long after a conflict an instance assumes that others are still appending. */
const OTHERS_ASSUMED_MS = 2_000;

/** Longest pause: in durations of the last commit, and in milliseconds. */
const PAUSE_LIMIT_COMMITS = 4;
const PAUSE_LIMIT_MS = 500;

const JITTER_LIMIT_MS = 4;

/**
 * Pauses that share one log fairly between instances. One that has just committed knows the new head first, so without
 * a pause it would commit first every time. Its pause grows with the number of conflicts that it had before. An instance
 * without conflicts cannot know whether it is alone, so it also pauses from time to time.
 */
export class ContentionBackoff {
  #runtime: Runtime;
  #conflicts = 0;
  #commits = 0;
  #streakSince = 0;
  #othersUntil = -Infinity;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  get areOthersNear(): boolean {
    return this.#runtime.monotonicNow() < this.#othersUntil;
  }

  /** Whether this instance has lost a multiple of six commits in a row. */
  get isStarving(): boolean {
    return this.#conflicts > 0 && this.#conflicts % TOUCH_EVERY === 0;
  }

  /** Returns how many milliseconds to wait before the next commit, after a conflict. */
  onConflict(): number {
    this.#conflicts++;
    this.#startStreak();
    this.#othersUntil = this.#runtime.monotonicNow() + OTHERS_ASSUMED_MS;
    // Short, because the new head is already known. Random, so that the losers of one commit do not collide.
    return Math.ceil(Math.min(JITTER_LIMIT_MS, this.#conflicts) * this.#runtime.random());
  }

  /** Returns how many milliseconds to wait before the next commit, after one that took `commitMs`. */
  onCommitted(commitMs: number): number {
    const commitsToWait = this.#commitsToWait();
    this.#conflicts = 0;
    if (commitsToWait > 0) this.#startStreak();
    else this.#commits++;
    const pauseMs = commitsToWait * commitMs * (0.5 + this.#runtime.random());
    return Math.round(Math.min(PAUSE_LIMIT_MS, pauseMs));
  }

  #commitsToWait(): number {
    if (this.#conflicts > 0) return Math.min(PAUSE_LIMIT_COMMITS, this.#conflicts);
    if (this.areOthersNear) return 1;
    const streakMs = this.#runtime.monotonicNow() - this.#streakSince;
    const isLongStreak = this.#commits >= STREAK_LIMIT_COMMITS && streakMs >= STREAK_LIMIT_MS;
    return isLongStreak ? 2 : 0;
  }

  #startStreak(): void {
    this.#commits = 0;
    this.#streakSince = this.#runtime.monotonicNow();
  }
}
