import type { Head, RecordedEvent } from "eventstore-less/definitions.ts";
import { PET_LISTS, petByCategoryKey, petListOf } from "./pet_keys.ts";
import { changePositionOf, lastPetIdOf, petCount } from "./pet_counts.ts";
import { expectRemoval, petKeyOf, petOf, type PetRecord, readRemovals } from "./pet_records.ts";
import { isPetEvent } from "./pet_event.ts";
import { encodePet } from "../../events/pet.ts";
import { projectionKey } from "eventstore-less/keyspace.ts";
import type { HeadEntry } from "eventstore-less/log/head.ts";
import { BoundedCache } from "../runtime/bounded_cache.ts";
import { ServiceError } from "eventstore-less/service_error.ts";
import type { Store } from "eventstore-less/store/store.ts";
import {
  countFor,
  isOfAll,
  newestFirst,
  newestOf,
  type Page,
  pageOf,
  type PageQuery,
} from "./page.ts";
import { damagedError, readEvents } from "eventstore-less/projections/project.ts";

/** Maximum number of cursors for which the number of the pets on the later pages is remembered. */
const REMAINING_LIMIT = 20_000;

/** A page is read at most so many times, and not again after this time in milliseconds. */
const READ_ATTEMPTS = 30;
const READ_LIMIT_MS = 1_000;

/** A page of some ids follows at most so many events that came while it was read. */
export const IDS_LINES_LIMIT = 1_000;

export interface PageReaderDeps {
  store: Store;
  monotonicNow: () => number;
  /** Reads the head, and rejects if it cannot be trusted. */
  readNewestHead: () => Promise<HeadEntry>;
  /** The pet with an id at a head or later; `undefined` if it is in none of the lists. */
  findPet: (id: number, head: Head) => PetRecord | Promise<PetRecord | undefined>;
}

/** The outcome of one attempt to read a page. If pets have changed meanwhile, the next attempt is as of a newer head. */
type Attempt = { kind: "page"; page: Page } | { kind: "changed"; newerHead: Head };

/** Reads pages of pets from the store, each as of one head. */
export class PageReader {
  #deps: PageReaderDeps;
  /** How many pets follow a page that was read, by {@linkcode remainingName}. Additions do not change these numbers. */
  #remaining = new BoundedCache<number>(REMAINING_LIMIT);

  constructor(deps: PageReaderDeps) {
    this.#deps = deps;
  }

  /**
   * Reads a page, again and again until it is as of one head, which is the given one or a later one. Rejects with
   * `projection_damaged`, and with `store_unavailable` if pets of the page are changed during each attempt.
   */
  async read(query: PageQuery, head: Head): Promise<Page> {
    const { monotonicNow } = this.#deps;
    const deadline = monotonicNow() + READ_LIMIT_MS;
    let asOf = head;
    for (let attempt = 1;; attempt++) {
      const isLast = attempt === READ_ATTEMPTS;
      const tried = query.ids === undefined
        ? await this.#tryLists(query, asOf, isLast)
        : await this.#tryIds(query, query.ids, asOf);
      if (tried.kind === "page") return tried.page;
      if (isLast || monotonicNow() > deadline) {
        const message = `The animals of the page were changed during each of ${attempt} reads`;
        throw new ServiceError("store_unavailable", message);
      }
      asOf = tried.newerHead;
    }
  }

  /**
   * Reads a page from the lists of pets. The lists are not read at one moment, so a pet that changes may be found in two
   * of them, or in none. One of three proofs shows that the page is right; otherwise it must be read again:
   * 1. It is complete by itself, as hasEveryId() explains.
   * 2. A second read of the head shows that no pet was changed or removed since the first one.
   * 3. It is a page of one list, which was read at one moment. That moment is not that of a head, so this proof counts
   *    only in the last attempt.
   */
  async #tryLists(query: PageQuery, head: Head, isLast: boolean): Promise<Attempt> {
    const pets = await this.#readPets(query, head);
    if (hasEveryId(pets, query, head)) {
      return { kind: "page", page: this.#countedPage(pets, query, head) };
    }
    const { head: newerHead } = await this.#deps.readNewestHead();
    // A replay removes the records of an earlier generation.
    if (newerHead.generation !== head.generation) return { kind: "changed", newerHead };
    if (hasNoChangeAfter(head, newerHead)) {
      expectNoDuplicate(pets, head);
      // While no pet was ever removed, a page of all pets has every id.
      if (isOfAll(query) && !hasGaps(head)) throw missingPetError(pets, query, head);
      const page = this.#countedPage(pets, query, head);
      return { kind: "page", page };
    }
    const isOneList = query.status !== undefined;
    // The head does not count these pets.
    if (isOneList && isLast) return { kind: "page", page: pageOf(pets, query, head) };
    return { kind: "changed", newerHead };
  }

  /**
   * Reads pets by their ids, each at some moment between a head and the newest head. The events between the two heads
   * replace what was read, so the page is as of the newest head, however often the pets change.
   */
  async #tryIds(query: PageQuery, ids: readonly number[], head: Head): Promise<Attempt> {
    const { findPet, readNewestHead, store } = this.#deps;
    const added = ids.filter((id) => id <= lastPetIdOf(head));
    const read = await Promise.all(added.map((id) => findPet(id, head)));
    const missing = added.filter((_, index) => read[index] === undefined);
    // A pet that was removed between the two reads has the record of its removal by now.
    const removals = await readRemovals(store, head, missing);
    const { head: newerHead } = await readNewestHead();
    // A replay removes the records of an earlier generation.
    if (newerHead.generation !== head.generation) return { kind: "changed", newerHead };
    for (const [index, id] of missing.entries()) expectRemoval(id, removals[index], newerHead);
    const found = newestFirst(read.filter((pet) => pet !== undefined));
    if (hasNoChangeAfter(head, newerHead)) {
      return { kind: "page", page: pageOf(found, query, head) };
    }
    const eventCount = newerHead.position - head.position;
    if (eventCount > IDS_LINES_LIMIT) return { kind: "changed", newerHead };
    const events = await readEvents(store, head.position + 1, newerHead.position);
    const pets = petsAfter(found, events, ids);
    return { kind: "page", page: pageOf(pets, query, newerHead) };
  }

  /**
   * A page of pets as of a head. Throws `projection_damaged` unless it has as many pets as its list at the head, or as
   * the pages before it have left. Nothing counts the pets of a category.
   */
  #countedPage(pets: PetRecord[], query: PageQuery, head: Head): Page {
    const page = pageOf(pets, query, head);
    const remaining = this.#remainingFor(query, head);
    if (remaining === undefined) return page;
    const expected = Math.min(remaining, query.limit + 1);
    if (pets.length < expected) throw miscountedError(query, "fewer");
    if (pets.length > expected) throw miscountedError(query, "more");
    if (page.next !== undefined) {
      const name = remainingName({ ...query, cursor: page.next }, head);
      this.#remaining.set(name, remaining - query.limit);
    }
    return page;
  }

  /** How many pets a page and those after it have at a head; `undefined` if that is not known. */
  #remainingFor(query: PageQuery, head: Head): number | undefined {
    if (query.categoryId !== undefined) return undefined;
    const isFirst = newestOf(query, head) === lastPetIdOf(head);
    return isFirst ? countFor(query, head) : this.#remaining.get(remainingName(query, head));
  }

  /** The pets that a page may show, newest first, and the next one if there are more. */
  async #readPets(query: PageQuery, head: Head): Promise<PetRecord[]> {
    const { store } = this.#deps;
    const { limit, status, categoryId } = query;
    const lists = status === undefined ? PET_LISTS : [petListOf(status)];
    const newest = newestOf(query, head);
    const isDense = isOfAll(query) && !hasGaps(head);
    const oldest = isDense ? Math.max(1, newest - limit) : 1;
    const readList = async (list: string): Promise<PetRecord[]> => {
      const keyOf = (id: number) =>
        categoryId === undefined
          ? petKeyOf(head, list, id)
          : projectionKey(head.generation, petByCategoryKey(categoryId, list, id));
      const range = { start: keyOf(oldest), end: keyOf(newest + 1) };
      const entries = await store.list(range, { limit: limit + 1, reverse: true });
      return entries.map(petOf);
    };
    const pets = (await Promise.all(lists.map(readList))).flat();
    return newestFirst(pets).slice(0, limit + 1);
  }
}

/** Whether no pet was changed or removed after a head, up to a later one of the same generation. */
function hasNoChangeAfter(head: Head, newerHead: Head): boolean {
  return changePositionOf(newerHead) <= head.position;
}

/** Whether a page of all pets has every id once, and none of its pets was changed after the head. */
function hasEveryId(pets: readonly PetRecord[], query: PageQuery, head: Head): boolean {
  const expected = Math.min(newestOf(query, head), query.limit + 1);
  return isOfAll(query) && pets.length === expected &&
    consecutiveCount(pets, query, head) === expected;
}

/** How many pets at the start of a page have consecutive ids, and were not changed after the head. */
function consecutiveCount(pets: readonly PetRecord[], query: PageQuery, head: Head): number {
  const newest = newestOf(query, head);
  const firstOther = pets.findIndex(({ id, position }, index) => {
    const isNext = id === newest - index;
    return !isNext || position > head.position;
  });
  return firstOther === -1 ? pets.length : firstOther;
}

const MISSING_OR_TWICE = "is missing, or is there twice";

/** Throws `projection_damaged` if a page, during which no pet was changed, has a pet twice. */
function expectNoDuplicate(pets: readonly PetRecord[], head: Head): void {
  const twice = pets.find(({ id }, index) => id === pets[index + 1]?.id);
  if (twice !== undefined) throw damagedError(petKeyOf(head, "", twice.id), MISSING_OR_TWICE);
}

/** The error about the newest pet that a page should have and does not have. */
function missingPetError(pets: readonly PetRecord[], query: PageQuery, head: Head): ServiceError {
  const missing = newestOf(query, head) - consecutiveCount(pets, query, head);
  return damagedError(petKeyOf(head, "", missing), MISSING_OR_TWICE);
}

/** The pets of some ids after events, newest first. */
function petsAfter(
  pets: readonly PetRecord[],
  events: readonly RecordedEvent[],
  ids: readonly number[],
): PetRecord[] {
  const after = new Map(pets.map((pet) => [pet.id, pet]));
  for (const event of events.filter(isPetEvent).filter(({ data }) => ids.includes(data.id))) {
    const { type, position, data } = event;
    if (type === "PetRemoved") after.delete(data.id);
    else after.set(data.id, { id: data.id, text: encodePet(data), position });
  }
  return newestFirst([...after.values()]);
}

/** The name of the number of pets from the cursor of a query on. After a change of any pet, it is another name. */
function remainingName({ status, cursor }: PageQuery, head: Head): string {
  const { generation } = head;
  return `${generation}/${changePositionOf(head)}/${status}/${cursor}`;
}

function miscountedError({ status }: PageQuery, difference: "fewer" | "more"): ServiceError {
  const list = status === undefined ? "The list of all pets" : `The list ${status}`;
  const message = `${list} has ${difference} pets than the head counts`;
  return new ServiceError("projection_damaged", message, { cause: "run deno task audit" });
}

/** Whether pets were removed, so that ids are missing. */
function hasGaps(head: Head): boolean {
  return petCount(head) < lastPetIdOf(head);
}
