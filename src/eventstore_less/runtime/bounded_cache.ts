/** A map that drops its oldest entries beyond a number of entries and a total size. An entry that is set again is the newest. */
export class BoundedCache<Value> {
  #entries = new Map<string | number, Value>();
  #countLimit: number;
  #sizeLimit: number;
  #sizeOf: (value: Value) => number;
  #size = 0;

  /**
   * `sizeOf` gives the size of an entry, in the unit of `sizeLimit`. By default, only the number of entries is
   * limited.
   */
  constructor(countLimit: number, sizeLimit = Infinity, sizeOf = (_: Value) => 0) {
    this.#countLimit = countLimit;
    this.#sizeLimit = sizeLimit;
    this.#sizeOf = sizeOf;
  }

  /** The value of an entry; `undefined` if there is none. The entry does not become newer. */
  get(key: string | number): Value | undefined {
    return this.#entries.get(key);
  }

  /** Sets an entry, which is then the newest, and returns its value. */
  set(key: string | number, value: Value): Value {
    this.delete(key);
    this.#entries.set(key, value);
    this.#size += this.#sizeOf(value);
    this.#dropOldest();
    return value;
  }

  /**
   * Sets an entry, but does not make a present one the newest. `set` deletes it first, which leaves a hole in the map:
   * holes make a large map slow.
   */
  replace(key: string | number, value: Value): void {
    const former = this.#entries.get(key);
    if (former === undefined) {
      this.set(key, value);
      return;
    }
    this.#size += this.#sizeOf(value) - this.#sizeOf(former);
    this.#entries.set(key, value);
    this.#dropOldest();
  }

  /** Deletes an entry, if there is one. */
  delete(key: string | number): void {
    const value = this.#entries.get(key);
    if (value === undefined) return;
    this.#size -= this.#sizeOf(value);
    this.#entries.delete(key);
  }

  #dropOldest(): void {
    while (this.#entries.size > this.#countLimit || this.#size > this.#sizeLimit) {
      this.delete(this.#entries.keys().next().value!);
    }
  }
}
