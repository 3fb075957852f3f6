/** Which Idempotency-Keys a log used last, in a form that takes little memory. */

import { IDEMPOTENCY_LIFETIME_MS } from "../idempotency_lifetime.ts";

/**
 * How many of the last uses are remembered, or up to twice as many: some 45 bytes each. So a use is
 * found if fewer uses than this lie between it and the next one of its key.
 */
export const USES_REMEMBERED = 524_288;

/** How far the times of neighbouring events may differ because the clocks of their writers differ. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** From the first use of a generation on, so that the generation before holds all of a day. */
const GENERATION_MS = IDEMPOTENCY_LIFETIME_MS + CLOCK_TOLERANCE_MS;

/** One use of an Idempotency-Key: where its event is in the log, and when that happened. */
export interface Use {
  position: number;
  timeMs: number;
}

/**
 * The uses of the last day or more, in typed arrays. Knows a key by the first 128 bits of its SHA-256,
 * which nobody can make two keys share.
 */
export class IdempotencyUses {
  #current = new Generation();
  #earlier = new Generation();

  /** Remembers a use, and returns the last one before it of the same key by the same actor. */
  add(actor: number, keyHash: string, use: Use): Use | undefined {
    const current = this.#current;
    if (current.count >= USES_REMEMBERED || use.timeMs >= current.firstTimeMs + GENERATION_MS) {
      this.#earlier = current;
      this.#current = new Generation();
    }
    decodeName(actor, keyHash);
    return this.#current.replace(use) ?? this.#earlier.find();
  }
}

/** Four words of the hash, and the actor. */
const NAME_WORDS = 5;
/** The name that was decoded last: a new array for each would cost more than all else. */
const name = new Uint32Array(NAME_WORDS);

function decodeName(actor: number, keyHash: string): void {
  for (let word = 0; word < NAME_WORDS - 1; word++) name[word] = wordOf(keyHash, 8 * word);
  name[NAME_WORDS - 1] = actor;
}

/** Eight hex digits, in lower case, as a number of 32 bits. */
function wordOf(hex: string, start: number): number {
  let value = 0;
  for (let index = start; index < start + 8; index++) {
    const code = hex.charCodeAt(index);
    // "0" is 0x30 and "a" is 0x61.
    value = value << 4 | (code & 15) + 9 * (code >> 6);
  }
  return value;
}

/** How many uses there is room for at first. It doubles up to USES_REMEMBERED: both are powers of two. */
const SMALLEST = 1_024;

/** Bits of a slot that count a use, from 1 to USES_REMEMBERED. The others are the highest of its name. */
const NUMBER_BITS = 20;
const NUMBER_MASK = 2 ** NUMBER_BITS - 1;

/** A hash table with linear probing. */
class Generation {
  count = 0;
  /** The time of the first use. */
  firstTimeMs = Infinity;
  #names = new Uint32Array(SMALLEST * NAME_WORDS);
  #positions = new Float64Array(SMALLEST);
  #times = new Float64Array(SMALLEST);
  /** Twice as many as there is room for; 0 in those that are free. */
  #slots = new Uint32Array(2 * SMALLEST);

  find(): Use | undefined {
    return this.count === 0 ? undefined : this.#useIn(this.#slotOfName());
  }

  /** Puts a use in the place of the one before of the name, and returns that. */
  replace(use: Use): Use | undefined {
    if (this.count === this.#times.length) this.#grow();
    const slot = this.#slotOfName();
    const before = this.#useIn(slot);
    if (before === undefined) {
      if (this.count === 0) this.firstTimeMs = use.timeMs;
      const start = this.count * NAME_WORDS;
      for (let word = 0; word < NAME_WORDS; word++) this.#names[start + word] = name[word];
      this.#slots[slot] = name[0] & ~NUMBER_MASK | ++this.count;
    }
    const index = (this.#slots[slot] & NUMBER_MASK) - 1;
    this.#positions[index] = use.position;
    this.#times[index] = use.timeMs;
    return before;
  }

  #useIn(slot: number): Use | undefined {
    if (this.#slots[slot] === 0) return undefined;
    const index = (this.#slots[slot] & NUMBER_MASK) - 1;
    return { position: this.#positions[index], timeMs: this.#times[index] };
  }

  /** The slot of the name, or the one where it goes. */
  #slotOfName(): number {
    const slots = this.#slots;
    const last = slots.length - 1;
    for (let slot = name[0] & last;; slot = slot + 1 & last) {
      const content = slots[slot];
      if (content === 0) return slot;
      const mayBe = ((content ^ name[0]) & ~NUMBER_MASK) === 0;
      if (mayBe && this.#hasName((content & NUMBER_MASK) - 1)) return slot;
    }
  }

  #hasName(index: number): boolean {
    for (let word = 0; word < NAME_WORDS; word++) {
      if (this.#names[index * NAME_WORDS + word] !== name[word]) return false;
    }
    return true;
  }

  #grow(): void {
    this.#names = doubled(this.#names);
    this.#positions = doubled(this.#positions);
    this.#times = doubled(this.#times);
    const slots = this.#slots = new Uint32Array(2 * this.#slots.length);
    const last = slots.length - 1;
    for (let index = 0; index < this.count; index++) {
      const word = this.#names[index * NAME_WORDS];
      let slot = word & last;
      while (slots[slot] !== 0) slot = slot + 1 & last;
      slots[slot] = word & ~NUMBER_MASK | index + 1;
    }
  }
}

function doubled<Numbers extends Uint32Array | Float64Array>(numbers: Numbers): Numbers {
  const more = new (numbers.constructor as new (length: number) => Numbers)(2 * numbers.length);
  more.set(numbers);
  return more;
}
