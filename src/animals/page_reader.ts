import { type Head, ServiceError } from "eventstore-less";
import { commandName } from "../runtime/words.ts";
import { type CategoryDeps, readCategory } from "./category_reader.ts";
import {
  countFor,
  endedAt,
  idsOf,
  inOrder,
  isOfAll,
  type PageQuery,
  type PetsOfHead,
} from "./page.ts";
import { hasGaps, isSparse, lastPetIdOf } from "./pet_counts.ts";
import { PET_LISTS, petKey, petListOf } from "./pet_keys.ts";
import { damagedPetError, petOf, type PetRecord } from "./pet_records.ts";

/** Reads pets of a status, of a category or of all, together with the head, so that they are as of this head. */
export class PageReader {
  #deps: CategoryDeps;

  constructor(deps: CategoryDeps) {
    this.#deps = deps;
  }

  /**
   * Reads a page as of the given head or a later one. Rejects with `projection_damaged`, and with `store_unavailable` if
   * the category changed during each read.
   */
  async read(query: PageQuery, head: Head): Promise<PetsOfHead> {
    const { categoryId } = query;
    if (isEmpty(query, head)) return { pets: [], head };
    if (categoryId !== undefined) {
      return await readCategory(this.#deps, { ...query, categoryId }, head);
    }
    // If no id is missing, so many ids have the pets of the page and the next one, in whatever lists these are.
    const isDense = isOfAll(query) && !hasGaps(head);
    const span = isDense ? query.limit + 1 : Infinity;
    const read = await this.#readLists(query, head, span);
    const hasLost = isDense && hasGaps(read.head);
    if (hasLost) return await this.read(query, read.head);
    // The head counts the pets of each list, but not those before and after a cursor.
    if (isFirst(query, read.head)) expectCount(read.pets, query, countFor(query, read.head));
    return endedAt(query.limit, read.pets, read.head);
  }

  /** Reads a part of a page as read() does. If the part is of all pets, `limit` is the number of ids that it looks at. */
  async readPart(query: PageQuery, head: Head): Promise<PetsOfHead> {
    const readsEveryId = isOfAll(query) && !isSparse(head) && !isEmpty(query, head);
    if (!readsEveryId) return await this.read(query, head);
    const read = await this.#readLists(query, head, query.limit);
    const { oldest, newest } = idsOf(query, lastPetIdOf(head));
    const isLast = newest - oldest < query.limit;
    if (isLast || read.pets.length > query.limit) return endedAt(query.limit, read.pets, read.head);
    const next = query.order === "asc" ? oldest + query.limit - 1 : newest - query.limit + 1;
    return { ...read, next };
  }

  /** Reads the first pets of the query, at most one more than its limit. `span` is the number of ids that are looked at. */
  async #readLists(query: PageQuery, head: Head, span: number): Promise<PetsOfHead> {
    const { limit, order, status } = query;
    const { oldest, newest } = idsOf(query, lastPetIdOf(head));
    const isAscending = order === "asc";
    const first = isAscending ? oldest : Math.max(oldest, newest - span + 1);
    // Pets that were added after the given head are there, too.
    const last = isAscending ? oldest + span - 1 : (query.cursor ?? Infinity) - 1;
    const end = Math.min(last + 1, Number.MAX_SAFE_INTEGER);
    const lists = status === undefined ? PET_LISTS : [petListOf(status)];
    const ranges = lists.map((list) => ({ start: petKey(list, first), end: petKey(list, end) }));
    const options = { limit: limit + 1, reverse: !isAscending };
    const read = await this.#deps.heads.readWith([], ranges, options);
    const pets = inOrder(read.lists.flat().map(petOf), query).slice(0, limit + 1);
    const twice = pets.find(({ id }, index) => id === pets[index + 1]?.id);
    if (twice !== undefined) throw damagedPetError(twice.id, read.head, "is there twice");
    const idsRead = Math.min(last, lastPetIdOf(read.head)) - first + 1;
    if (isOfAll(query) && !hasGaps(read.head)) expectCount(pets, query, idsRead);
    return { pets, head: read.head };
  }
}

/** Whether no id of a head can be on a page. */
function isEmpty(query: PageQuery, head: Head): boolean {
  const { oldest, newest } = idsOf(query, lastPetIdOf(head));
  return oldest > newest;
}

/** Whether a page begins with the first pet of its order. */
function isFirst(query: PageQuery, head: Head): boolean {
  const { oldest, newest } = idsOf(query, lastPetIdOf(head));
  return oldest === 1 && newest === lastPetIdOf(head);
}

/** Throws `projection_damaged` unless so many pets were read, or one more than the limit if there are more. */
function expectCount(pets: readonly PetRecord[], query: PageQuery, count: number): void {
  const expected = Math.min(count, query.limit + 1);
  if (pets.length === expected) return;
  const list = query.status === undefined ? "The list of all pets" : `The list ${query.status}`;
  const difference = pets.length < expected ? "fewer" : "more";
  const message = `${list} has ${difference} pets than the head counts`;
  throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
}
