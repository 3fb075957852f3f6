/** How many words of 32 bits a name has. */
export const NAME_WORDS = 4;

/** How many names a table has room for at first. */
const SMALLEST = 1_024;

/** Bits of a slot that count a name, from 1 on. The others are bits of the name's hash. */
const NUMBER_BITS = 20;
const NUMBER_MASK = 2 ** NUMBER_BITS - 1;

/** How many names a table can hold. */
export const NAMES_LIMIT = 2 ** (NUMBER_BITS - 1);

/**
 * A set of names of 128 bits, in typed arrays: 24 bytes a name, and no string is kept. A hash table with
 * linear probing.
 */
export class NameTable {
  /** How many names there are; each has an index, in the order in which they came. */
  count = 0;
  #names = new Uint32Array(SMALLEST * NAME_WORDS);
  /** Twice as many as there is room for; 0 in those that are free. */
  #slots = new Uint32Array(2 * SMALLEST);
  /** The slot of a hash is `hash >>> #shift`. */
  #shift = Math.clz32(2 * SMALLEST - 1);

  /** The index of a name, or -1. */
  find(name: Uint32Array): number {
    return (this.#slots[this.#slotOf(name)] & NUMBER_MASK) - 1;
  }

  /**
   * The index of a name, which is added if it is new: then `count` grows. Throws `RangeError` if there
   * are {@linkcode NAMES_LIMIT} already.
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

  /** The slot of the name, or the free slot for it. */
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

/** The slot takes the high bits of a hash, so its content tells names apart by the low ones. */
function contentOf(hash: number, index: number): number {
  return hash << NUMBER_BITS | index + 1;
}

/** Names may be counted up, so a slot must depend on all digits of the last two words. */
function hashAt(names: Uint32Array, start: number): number {
  return Math.imul(names[start + 3] ^ Math.imul(names[start + 2], 0x85ebca6b), 0x9e3779b1);
}

/** The same numbers, with room for as many again. */
export function doubled<Numbers extends Uint32Array | Float64Array>(numbers: Numbers): Numbers {
  const more = new (numbers.constructor as new (length: number) => Numbers)(2 * numbers.length);
  more.set(numbers);
  return more;
}
