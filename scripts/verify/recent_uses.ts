/** The last use of each name. Remembers at least as many uses as its limit, and at most twice as many. */
export class RecentUses<Use> {
  #limit: number;
  #recent = new Map<string, Use>();
  #earlier = new Map<string, Use>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Adds a use, and returns the previous use of the name. Names do not differ in case alone. */
  add(name: string, use: Use): Use | undefined {
    if (this.#recent.size >= this.#limit) {
      this.#earlier = this.#recent;
      this.#recent = new Map();
    }
    // In lower case it is a new text: a part of a line's text would keep all of it in memory.
    const key = name.toLowerCase();
    const previous = this.#recent.get(key) ?? this.#earlier.get(key);
    this.#recent.set(key, use);
    return previous;
  }
}
