/** Number of 32-bit words in a name. */
export const NAME_WORDS = 4;

/** Initial capacity of a table, in names. */
const SMALLEST = 1_024;

/** Number of bits in a slot for the number of a name, from 1. The other bits are from the name's hash. */
const NUMBER_BITS = 20;
const NUMBER_MASK = 2 ** NUMBER_BITS - 1;

/** Maximum number of names in a table. */
export const NAMES_LIMIT = 2 ** (NUMBER_BITS - 1);

/**
 * A set of 128-bit names: a hash table with linear probing. It uses typed arrays, with 24 bytes per
 * name, and keeps no strings.
 */
export class NameTable {
  /** Number of names. Each name has an index, in the order of insertion. */
  count = 0;
  #names = new Uint32Array(SMALLEST * NAME_WORDS);
  /** Twice as many slots as names that fit; 0 marks a free slot. */
  #slots = new Uint32Array(2 * SMALLEST);
  /** The slot of a hash is `hash >>> #shift`. */
  #shift = Math.clz32(2 * SMALLEST - 1);

  /** Returns the index of a name, or -1. */
  find(name: Uint32Array): number {
    return (this.#slots[this.#slotOf(name)] & NUMBER_MASK) - 1;
  }

  /**
   * Returns the index of a name. If the name is new, adds it, and `count` grows. Throws `RangeError` if
   * the table already holds {@linkcode NAMES_LIMIT} names.
   */
  add(name: Uint32Array): number {
    if (2 * this.count === this.#slots.length) this.#grow();
    const slot = this.#slotOf(name);
    if (this.#slots[slot] === 0) {
      const start = this.count * NAME_WORDS;
      for (let word = 0; word < NAME_WORDS; word++) this.#names[start + word] = name[word];
      this.#slots[slot] = contentOf(hashAt(name, 0), this.count++);
    }
    return (this.#slots[slot] & NUMBER_MASK) - 1;
  }

  /** Returns the slot of the name, or the free slot for it. */
  #slotOf(name: Uint32Array): number {
    const slots = this.#slots;
    const last = slots.length - 1;
    const hash = hashAt(name, 0);
    for (let slot = hash >>> this.#shift;; slot = slot + 1 & last) {
      const content = slots[slot];
      if (content === 0) return slot;
      const mayBe = ((content ^ hash << NUMBER_BITS) & ~NUMBER_MASK) === 0;
      if (mayBe && this.#isAt((content & NUMBER_MASK) - 1, name)) return slot;
    }
  }

  #isAt(index: number, name: Uint32Array): boolean {
    for (let word = 0; word < NAME_WORDS; word++) {
      if (this.#names[index * NAME_WORDS + word] !== name[word]) return false;
    }
    return true;
  }

  #grow(): void {
    if (this.count >= NAMES_LIMIT) throw new RangeError("The table is full");
    this.#names = doubled(this.#names);
    const slots = this.#slots = new Uint32Array(2 * this.#slots.length);
    this.#shift--;
    const last = slots.length - 1;
    for (let index = 0; index < this.count; index++) {
      const hash = hashAt(this.#names, index * NAME_WORDS);
      let slot = hash >>> this.#shift;
      while (slots[slot] !== 0) slot = slot + 1 & last;
      slots[slot] = contentOf(hash, index);
    }
  }
}

/** The slot depends on the high bits of a hash, so its content has the low bits to distinguish names. */
function contentOf(hash: number, index: number): number {
  return hash << NUMBER_BITS | index + 1;
}

/** Names may be consecutive numbers, so a slot must depend on all digits of the last two words. */
function hashAt(names: Uint32Array, start: number): number {
  return Math.imul(names[start + 3] ^ Math.imul(names[start + 2], 0x85ebca6b), 0x9e3779b1);
}

/** Copies the numbers into an array of twice the length. */
export function doubled<Numbers extends Uint32Array | Float64Array>(numbers: Numbers): Numbers {
  const more = new (numbers.constructor as new (length: number) => Numbers)(2 * numbers.length);
  more.set(numbers);
  return more;
}
