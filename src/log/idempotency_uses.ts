import { IDEMPOTENCY_LIFETIME_MS } from "./idempotency_lifetime.ts";
import { doubled, NAME_WORDS, NAMES_LIMIT, NameTable } from "./name_table.ts";

/**
 * Minimum number of recent uses kept; up to twice as many are kept, at 36 bytes each. A repeated key
 * is found if fewer than this many other uses lie between.
 */
export const USES_KEPT = NAMES_LIMIT;

/** How far the times of adjacent events may be off because the clocks of their writers differ. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** Duration of a generation: long enough that the earlier one alone covers at least 24 hours. */
const GENERATION_MS = IDEMPOTENCY_LIFETIME_MS + CLOCK_TOLERANCE_MS;

/** One use of an Idempotency-Key: the position and the time of its event. */
export interface Use {
  position: number;
  /** In milliseconds since the Unix epoch. */
  timeMs: number;
}

/**
 * The Idempotency-Keys that a log used during the last day or longer. A key is identified by 128 bits of
 * its SHA-256, because nobody can construct two keys that share them.
 */
export class IdempotencyUses {
  #current = new Generation();
  #earlier = new Generation();
  #name = new Uint32Array(NAME_WORDS);

  /** Adds a use, and returns the previous use of the same key by the same actor. */
  add(actor: number, keyHash: string, use: Use): Use | undefined {
    const current = this.#current;
    if (current.count >= USES_KEPT || use.timeMs >= current.firstTimeMs + GENERATION_MS) {
      this.#earlier = current;
      this.#current = new Generation();
    }
    const name = this.#name;
    for (let word = 0; word < NAME_WORDS; word++) name[word] = wordOf(keyHash, 8 * word);
    name[0] ^= actor;
    return this.#current.replace(name, use) ?? this.#earlier.find(name);
  }
}

/** Converts eight lower-case hex digits to a 32-bit number. */
function wordOf(hex: string, start: number): number {
  let value = 0;
  for (let index = start; index < start + 8; index++) {
    const code = hex.charCodeAt(index);
    // "0" is 0x30 and "a" is 0x61.
    value = value << 4 | (code & 15) + 9 * (code >> 6);
  }
  return value;
}

/** Offset so that 32 bits can also hold times up to 24 days before the first use. */
const TIME_BIAS_MS = 2 ** 31;

class Generation {
  /** The time of the first use. */
  firstTimeMs = Infinity;
  #names = new NameTable();
  #positions = new Float64Array(SMALLEST);
  /** Milliseconds since the first use, plus {@linkcode TIME_BIAS_MS}. */
  #times = new Uint32Array(SMALLEST);

  get count(): number {
    return this.#names.count;
  }

  find(name: Uint32Array): Use | undefined {
    const index = this.count === 0 ? -1 : this.#names.find(name);
    return index === -1 ? undefined : this.#useAt(index);
  }

  /** Replaces the previous use of the name, and returns it. */
  replace(name: Uint32Array, { position, timeMs }: Use): Use | undefined {
    const { count } = this;
    const index = this.#names.add(name);
    const before = this.count === count ? this.#useAt(index) : undefined;
    if (index === 0 && before === undefined) this.firstTimeMs = timeMs;
    if (index === this.#times.length) {
      this.#positions = doubled(this.#positions);
      this.#times = doubled(this.#times);
    }
    this.#positions[index] = position;
    const sinceFirstMs = timeMs - this.firstTimeMs + TIME_BIAS_MS;
    this.#times[index] = Math.max(0, Math.min(sinceFirstMs, 2 ** 32 - 1));
    return before;
  }

  #useAt(index: number): Use {
    return {
      position: this.#positions[index],
      timeMs: this.firstTimeMs + this.#times[index] - TIME_BIAS_MS,
    };
  }
}

/** Initial capacity, in uses. */
const SMALLEST = 1_024;
