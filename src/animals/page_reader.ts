import type { Head, RecordedEvent } from "eventstore-less/definitions.ts";
import { PET_LISTS, petListOf } from "./pet_keys.ts";
import { findLocations, type PetLocation } from "./pet_locations.ts";
import { changePositionOf, lastPetIdOf, petCount } from "./pet_counts.ts";
import {
  expectRemoval,
  getAll,
  petKeyOf,
  petOf,
  type PetRecord,
  readRemovals,
} from "./pet_records.ts";
import { isPetEvent } from "./pet_event.ts";
import { categoryIdIn, encodePet, statusIn } from "../../events/pet.ts";
import type { HeadEntry } from "eventstore-less/log/head.ts";
import { BoundedCache } from "../runtime/bounded_cache.ts";
import { ServiceError } from "eventstore-less/service_error.ts";
import type { Store, StoreEntry } from "eventstore-less/store/store.ts";
import {
  countFor,
  isOfAll,
  newestFirst,
  newestOf,
  type Page,
  pageOf,
  type PageQuery,
} from "./page.ts";
import type { ColumnReader } from "eventstore-less/projections/column_reader.ts";
import { damagedError, readEvents } from "eventstore-less/projections/project.ts";

/** Maximum number of cursors for which the number of the pets on the later pages is remembered. */
const REMAINING_LIMIT = 20_000;

/** A page is read at most so many times, and not again after this time in milliseconds. */
const READ_ATTEMPTS = 30;
const READ_LIMIT_MS = 1_000;

/** A page follows at most so many events that came while it was read. */
export const LINES_LIMIT = 1_000;

export interface PageReaderDeps {
  /** The categories and the lists of all pets. */
  column: Pick<ColumnReader, "asOf">;
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
      const tried = query.ids === undefined
        ? await this.#tryLists(query, asOf)
        : await this.#tryIds(query, query.ids, asOf);
      if (tried.kind === "page") return tried.page;
      if (attempt === READ_ATTEMPTS || monotonicNow() > deadline) {
        const message = `The animals of the page were changed during each of ${attempt} reads`;
        throw new ServiceError("store_unavailable", message);
      }
      asOf = tried.newerHead;
    }
  }

  /**
   * Reads a page from the lists of pets, which are not read at one moment: a pet that changes meanwhile may be found in
   * two of them, or in none. Either the page is complete by itself, as hasEveryId() explains, or the events between the head
   * and the newest head replace what was read of their pets. Without a change, the page is as of the first head.
   */
  async #tryLists(query: PageQuery, head: Head): Promise<Attempt> {
    const { readNewestHead, store } = this.#deps;
    const read = await this.#readLists(query, head);
    const listed = read.pets.map(({ pet }) => pet).filter((pet) => pet !== undefined);
    if (hasEveryId(listed, query, head)) {
      return { kind: "page", page: this.#countedPage(listed, query, head) };
    }
    const { head: newerHead } = await readNewestHead();
    // A replay removes the records of an earlier generation.
    if (newerHead.generation !== head.generation) return { kind: "changed", newerHead };
    if (hasNoChangeAfter(head, newerHead)) {
      const pets = soundPets(read.pets, head);
      return { kind: "page", page: this.#wholePage(pets, query, head) };
    }
    if (newerHead.position - head.position > LINES_LIMIT) return { kind: "changed", newerHead };
    const events = await readEvents(store, head.position + 1, newerHead.position);
    const changed = petsAfter(events);
    const unchanged = soundPets(read.pets.filter(({ id }) => !changed.has(id)), head);
    const newest = newestOf(query, newerHead);
    const entered = [...changed.values()].filter((pet) => pet !== undefined)
      .filter((pet) => pet.id >= read.oldest && pet.id <= newest && matches(pet, query));
    const pets = newestFirst([...unchanged, ...entered]);
    // After pets have left the page, others come that were not read.
    const isShort = pets.length <= query.limit && read.oldest > 1;
    if (isShort) return { kind: "changed", newerHead };
    const shown = pets.slice(0, query.limit + 1);
    return { kind: "page", page: this.#wholePage(shown, query, newerHead) };
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
    if (newerHead.position - head.position > LINES_LIMIT) return { kind: "changed", newerHead };
    const events = await readEvents(store, head.position + 1, newerHead.position);
    const changed = petsAfter(events);
    const unchanged = found.filter(({ id }) => !changed.has(id));
    const entered = ids.map((id) => changed.get(id)).filter((pet) => pet !== undefined);
    const pets = newestFirst([...unchanged, ...entered]);
    return { kind: "page", page: pageOf(pets, query, newerHead) };
  }

  /** A page of lists, as #countedPage(). Throws `projection_damaged` also if a pet of a page of all pets is missing. */
  #wholePage(pets: PetRecord[], query: PageQuery, head: Head): Page {
    // While no pet was ever removed, a page of all pets has every id.
    const needsEveryId = isOfAll(query) && !hasGaps(head);
    if (needsEveryId && !hasEveryId(pets, query, head)) throw missingPetError(pets, query, head);
    return this.#countedPage(pets, query, head);
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

  /** Reads the pets that a page may show, newest first, and the next one if there are more. */
  async #readLists(query: PageQuery, head: Head): Promise<ReadLists> {
    const { categoryId } = query;
    if (categoryId !== undefined) return await this.#readCategory({ ...query, categoryId }, head);
    const { store } = this.#deps;
    const { limit, status } = query;
    const lists = status === undefined ? PET_LISTS : [petListOf(status)];
    const newest = newestOf(query, head);
    const isDense = isOfAll(query) && !hasGaps(head);
    const start = isDense ? Math.max(1, newest - limit) : 1;
    const readList = async (list: string): Promise<StoreEntry[]> => {
      const range = { start: petKeyOf(head, list, start), end: petKeyOf(head, list, newest + 1) };
      return await store.list(range, { limit: limit + 1, reverse: true });
    };
    const entries = (await Promise.all(lists.map(readList))).flat()
      .sort((one, other) => idOf(other) - idOf(one))
      .slice(0, limit + 1);
    const isFull = entries.length > limit;
    const oldest = isFull ? idOf(entries[limit]) : start;
    return { pets: entries.map((entry) => ({ id: idOf(entry), pet: petOf(entry) })), oldest };
  }

  /** As #readLists(). The column says where the pets are, as of the head or later. */
  async #readCategory(query: CategoryQuery, head: Head): Promise<ReadLists> {
    const { column, store } = this.#deps;
    const { limit, categoryId } = query;
    const range = { newest: newestOf(query, head), limit: limit + 1 };
    const locations = findLocations(await column.asOf(head), query, range);
    const isFull = locations.length > limit;
    const oldest = isFull ? locations[limit].id : 1;
    return { pets: await readPetsAt(store, locations, categoryId, head), oldest };
  }
}

type CategoryQuery = PageQuery & { categoryId: bigint };

/** The pets at some locations, unless they have moved since. */
export async function readPetsAt(
  store: Store,
  locations: readonly PetLocation[],
  categoryId: bigint,
  head: Head,
): Promise<ReadPet[]> {
  const found = await getAll(store, locations.map(({ id, list }) => petKeyOf(head, list, id)));
  return locations.map(({ id }, index) => {
    const entry = found[index];
    const pet = entry === null ? undefined : petOf(entry);
    const isInCategory = pet !== undefined && categoryIdIn(pet.text) === String(categoryId);
    return { id, pet: isInCategory ? pet : undefined };
  });
}

/** A place in a list, and its pet; `undefined` if the pet itself is not there, or has another category. */
export interface ReadPet {
  id: number;
  pet: PetRecord | undefined;
}

/** All pets that the lists or the category of a page had when they were read, down to the `oldest` id. */
interface ReadLists {
  /** Newest first. A pet that has changed meanwhile may be there twice. */
  pets: ReadPet[];
  oldest: number;
}

export function idOf({ key }: StoreEntry): number {
  return key.at(-1) as number;
}

/** Whether no pet was changed or removed after a head, up to a later one of the same generation. */
export function hasNoChangeAfter(head: Head, newerHead: Head): boolean {
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

/** The pets that were read, none of which has changed meanwhile. Throws `projection_damaged` if one is missing, or twice. */
export function soundPets(read: readonly ReadPet[], head: Head): PetRecord[] {
  return read.map(({ id, pet }, index) => {
    const isTwice = id === read[index + 1]?.id;
    if (pet === undefined || isTwice) throw damagedError(petKeyOf(head, "", id), MISSING_OR_TWICE);
    return pet;
  });
}

/** The error about the newest pet that a page should have and does not have. */
function missingPetError(pets: readonly PetRecord[], query: PageQuery, head: Head): ServiceError {
  const missing = newestOf(query, head) - consecutiveCount(pets, query, head);
  return damagedError(petKeyOf(head, "", missing), MISSING_OR_TWICE);
}

/** The pets of events as the last of these leave them; `undefined` if a pet was removed. */
export function petsAfter(events: readonly RecordedEvent[]): Map<number, PetRecord | undefined> {
  const after = new Map<number, PetRecord | undefined>();
  for (const event of events.filter(isPetEvent)) {
    const { type, position, data } = event;
    const isRemoved = type === "PetRemoved";
    after.set(data.id, isRemoved ? undefined : { id: data.id, text: encodePet(data), position });
  }
  return after;
}

/** Whether a pet has the status and the category of a query. */
export function matches({ text }: PetRecord, { status, categoryId }: PageQuery): boolean {
  const hasStatus = status === undefined || petListOf(statusIn(text)) === petListOf(status);
  const hasCategory = categoryId === undefined || categoryIdIn(text) === String(categoryId);
  return hasStatus && hasCategory;
}

/** The name of the number of pets from the cursor of a query on. After a change of any pet, it is another name. */
function remainingName({ status, cursor }: PageQuery, head: Head): string {
  const { generation } = head;
  return `${generation}/${changePositionOf(head)}/${status}/${cursor}`;
}

/** Throws `projection_damaged` unless the lists of a query had so many pets as the head counts. */
export function expectCount(count: number, query: PageQuery, head: Head): void {
  if (query.categoryId !== undefined) return;
  const expected = countFor(query, head);
  if (count !== expected) throw miscountedError(query, count < expected ? "fewer" : "more");
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
