import type { PetEvent } from "./pet_event.ts";
import { PET_LISTS, petListOf, type StatusFilter } from "./pet_keys.ts";
import { Removals } from "./removals.ts";

/** A pet of a category, and the list that has its record. */
export interface PetLocation {
  id: number;
  list: string;
}

/** The pets of a category to find, with ids from `oldest` to `newest`, newest first unless the order is `asc`. */
export interface PetIndexQuery {
  categoryId: bigint;
  status?: StatusFilter;
  order?: "asc" | "desc";
  oldest: number;
  newest: number;
  limit: number;
}

/** Number of the lowest bits of a category by which changes of its pets are noted. */
const BUCKET_BITS = 12;

/**
 * The category and the list of every pet, after all events up to a position, in 9 bytes for each id, the number of pets of
 * each category, and the removals.
 */
export class PetIndex {
  /** Position of the last event that was added. */
  position: number;
  readonly removals: Removals;
  /** The number of the list of each pet, from 1 on, by its id; 0 without a pet. */
  #lists = new Uint8Array(1_024);
  #categories = new BigInt64Array(1_024);
  /**
   * The position of the last event that moved a pet into a category, out of it or between lists, by the lowest bits of
   * the category.
   */
  #changedAt = new Float64Array(2 ** BUCKET_BITS);
  #counts = new Map<bigint, number>();

  constructor(position: number, removals = new Removals()) {
    this.position = position;
    this.removals = removals;
  }

  /** The numbers of pets by categories, without those that have none. */
  get counts(): ReadonlyMap<bigint, number> {
    return this.#counts;
  }

  /** Sets where a pet is; `list` is `undefined` for a removed one. */
  set(id: number, list: string | undefined, categoryId: bigint): void {
    if (id >= this.#lists.length) this.#grow(id);
    if (this.#lists[id] !== 0) this.#addToCount(this.#categories[id], -1);
    if (list !== undefined) this.#addToCount(categoryId, 1);
    this.#lists[id] = numberOf(list);
    this.#categories[id] = categoryId;
  }

  /** Adds a later event of a pet. The caller sets the `position` of the index, also after events of other subjects. */
  add({ type, data: { id, categoryId, status }, position, predecessor }: PetEvent): void {
    if (type === "PetRemoved") this.removals.add(position);
    if (type === "PetRestored") this.removals.end(predecessor!, position);
    const list = type === "PetRemoved" ? undefined : petListOf(status);
    const formerList = this.#lists[id] ?? 0;
    // A new or restored pet leaves no category.
    const formerCategory = formerList === 0 ? categoryId : this.#categories[id];
    const isMoved = formerList !== numberOf(list) || formerCategory !== categoryId;
    if (!isMoved) return;
    this.#changedAt[bucketOf(formerCategory)] = position;
    this.#changedAt[bucketOf(categoryId)] = position;
    this.set(id, list, categoryId);
  }

  /** Position of the last event that may have changed which pets a category has, and in which lists. */
  changedAt(categoryId: bigint): number {
    return this.#changedAt[bucketOf(categoryId)];
  }

  /** The first pets of a category, in the order of the query. */
  find({ categoryId, status, order, oldest, newest, limit }: PetIndexQuery): PetLocation[] {
    const lists = this.#lists;
    // A comparison of 32-bit halves takes a third of the time of one of bigints.
    const halves = new Int32Array(this.#categories.buffer);
    const [low, high] = new Int32Array(BigInt64Array.of(categoryId).buffer);
    const wanted = status === undefined ? 0 : numberOf(status);
    const last = Math.min(newest, lists.length - 1);
    const step = order === "asc" ? 1 : -1;
    const found: PetLocation[] = [];
    for (let id = step === 1 ? oldest : last; id >= oldest && id <= last; id += step) {
      const list = lists[id];
      const isInList = wanted === 0 ? list !== 0 : list === wanted;
      const isFound = isInList && halves[2 * id] === low && halves[2 * id + 1] === high;
      if (!isFound) continue;
      found.push({ id, list: PET_LISTS[list - 1] });
      if (found.length === limit) break;
    }
    return found;
  }

  /** Counts the pets of a category by their lists. */
  countsOf(categoryId: bigint): Record<string, number> {
    const counts: Record<string, number> = {};
    const all = { categoryId, oldest: 1, newest: Infinity, limit: Infinity };
    for (const { list } of this.find(all)) counts[list] = (counts[list] ?? 0) + 1;
    return counts;
  }

  /** Counts the pets. */
  count(): number {
    return this.#lists.reduce((count, list) => list === 0 ? count : count + 1, 0);
  }

  #addToCount(categoryId: bigint, more: number): void {
    const count = (this.#counts.get(categoryId) ?? 0) + more;
    if (count === 0) this.#counts.delete(categoryId);
    else this.#counts.set(categoryId, count);
  }

  #grow(id: number): void {
    const lists = new Uint8Array(Math.max(id + 1, 2 * this.#lists.length));
    const categories = new BigInt64Array(lists.length);
    lists.set(this.#lists);
    categories.set(this.#categories);
    this.#lists = lists;
    this.#categories = categories;
  }
}

function numberOf(list: string | undefined): number {
  return list === undefined ? 0 : PET_LISTS.indexOf(list as StatusFilter) + 1;
}

function bucketOf(categoryId: bigint): number {
  return Number(BigInt.asUintN(BUCKET_BITS, categoryId));
}
