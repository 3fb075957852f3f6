/** A seeded random number generator. The same seed gives the same numbers on every computer. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
    // Neighbouring seeds begin with similar numbers, so skip a few.
    for (let draw = 0; draw < 8; draw++) this.next();
  }

  /** From 0 (inclusive) to 1 (exclusive), by the generator mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** An integer from `low` to `high`, both inclusive. */
  integer(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[Math.floor(this.next() * choices.length)];
  }

  /** One of the names, with a probability in proportion to its weight. */
  weighted<Name extends string>(weights: Partial<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      left -= weight;
      if (left < 0) return name;
    }
    return entries[0][0];
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.integer(0, 255));
  }

  /** An independent generator, so that draws in one place do not affect draws in another. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 2 ** 32));
  }
}
