import { sha256Hex } from "../encoding/sha256.ts";
import { IDEMPOTENCY_LIFETIME_MS } from "../keyspace.ts";

/** How far the times of adjacent events may be off because the clocks of their writers differ. */
export const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Minimum number of recent uses kept; up to twice as many are kept, at some 190 bytes each. A repeated key is found if
 * fewer than this many other uses lie between.
 */
export const USES_KEPT = 100_000;

/** Duration of a generation: long enough that the earlier one alone covers at least 24 hours. */
const GENERATION_MS = IDEMPOTENCY_LIFETIME_MS + CLOCK_TOLERANCE_MS;

/** One use of an Idempotency-Key: the position and the time of its event. */
export interface Use {
  position: number;
  /** In milliseconds since the Unix epoch. */
  timeMs: number;
}

/** The Idempotency-Keys that a log used during the last day or longer. */
export class IdempotencyUses {
  #current = new Map<string, Use>();
  #earlier = new Map<string, Use>();
  /** The time of the first current use. */
  #startMs = Infinity;

  /** Adds a use, and returns the previous use of the same key by the same actor. */
  add(actor: string, keyHash: string, use: Use): Use | undefined {
    if (this.#current.size >= USES_KEPT || use.timeMs >= this.#startMs + GENERATION_MS) {
      this.#earlier = this.#current;
      this.#current = new Map();
    }
    if (this.#current.size === 0) this.#startMs = use.timeMs;
    // A new text: a part of the line's text would keep all of it in memory.
    const name = sha256Hex(actor + keyHash);
    const previous = this.#current.get(name) ?? this.#earlier.get(name);
    this.#current.set(name, use);
    return previous;
  }
}
