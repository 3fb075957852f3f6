/**
 * The positions of the removals of the pets that are removed, in order: a number for each. The log has the rest. So the
 * memory of an instance grows by a few bytes for each removal, and a restore gives them back.
 */
export class Removals {
  readonly #positions: number[];
  /** Position of the last event that may have changed which pets are removed. */
  #changedAt: number;

  /** `changedAt` is the position up to which the events have surely added to these positions, in any order. */
  constructor(positions: readonly number[] = [], changedAt = 0) {
    this.#positions = positions.toSorted((one, other) => one - other);
    this.#changedAt = changedAt;
  }

  get changedAt(): number {
    return this.#changedAt;
  }

  get size(): number {
    return this.#positions.length;
  }

  /** Adds a later removal. It may be there already if the index was filled meanwhile. */
  add(position: number): void {
    this.#changedAt = position;
    const place = this.#placeOf(position);
    if (this.#positions[place] !== position) this.#positions.splice(place, 0, position);
  }

  /** Removes the removal that a later restore has ended. It may not be there if the index was filled meanwhile. */
  end(position: number, restoredAt: number): void {
    this.#changedAt = restoredAt;
    const place = this.#placeOf(position);
    if (this.#positions[place] === position) this.#positions.splice(place, 1);
  }

  /** The last removals before a position, the last one first. */
  before(position: number, limit: number): number[] {
    const end = this.#placeOf(position);
    return this.#positions.slice(Math.max(end - limit, 0), end).reverse();
  }

  /** The index of the first removal at a position or later. */
  #placeOf(position: number): number {
    let low = 0;
    let high = this.#positions.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#positions[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
