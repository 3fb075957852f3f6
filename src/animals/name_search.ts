/**
 * Searches pets by a part of their names. Names have no index, so it reads all pets of the query, in turns with other
 * work.
 */

import type { Head } from "eventstore-less/definitions.ts";
import { readEvents } from "eventstore-less/projections/project.ts";
import { ServiceError } from "eventstore-less/service_error.ts";
import { foldCase } from "../encoding/fold_case.ts";
import { nameIn } from "../../events/pet.ts";
import { newestFirst, newestOf, type Page, pageOf, type PageQuery } from "./page.ts";
import {
  expectCount,
  hasNoChangeAfter,
  idOf,
  matches,
  type PageReaderDeps,
  petsAfter,
  type ReadPet,
  readPetsAt,
  soundPets,
} from "./page_reader.ts";
import { PET_LISTS, petListOf, type StatusFilter } from "./pet_keys.ts";
import { findLocations } from "./pet_locations.ts";
import { lastPetIdOf } from "./pet_counts.ts";
import { petKeyOf, petOf, type PetRecord } from "./pet_records.ts";

/** A page ends with what it has found when so many pets were read, or after so many milliseconds. */
export const SCAN_LIMIT = 20_000;
export const SCAN_MS = 2_000;

/** Pets of one read of a list, and lines of one read of the log. Each takes about a millisecond of the thread. */
const BATCH = 128;

/** Pets of one read of a category. Each is a read of its own, so they take longer than those of a list. */
const CATEGORY_BATCH = 32;

/** A page follows at most so many events that came while it was read, and is read at most so many times. */
export const SEARCH_LINES_LIMIT = 20_000;
const ATTEMPTS = 3;

/** Maximum number of searches at once, which share the turns. */
export const SEARCHES_LIMIT = 100;

export type NameQuery = PageQuery & { name: string };

export interface NameSearchDeps extends Omit<PageReaderDeps, "findPet"> {
  /** Resolves when a part of a scan may be read. */
  turn: () => Promise<void>;
  /** Whether such a part has to end now, and the next one needs a turn. */
  isRestDue: () => boolean;
}

/** The outcome of a scan from the newest pet of the query down to an id, which is 1 at the end of the lists. */
interface Scanned {
  /** Those whose names match, and those that could not be read. */
  found: ReadPet[];
  oldest: number;
  /** How many pets were read. */
  count: number;
}

export class NameSearch {
  #deps: NameSearchDeps;
  #searches = 0;

  constructor(deps: NameSearchDeps) {
    this.#deps = deps;
  }

  /**
   * Reads a page as of one head, which is the given one or a later one. It may have fewer pets than its limit, or none,
   * although there is a next one. Rejects with `overloaded`, `projection_damaged` and `store_unavailable`.
   */
  async read(query: NameQuery, head: Head): Promise<Page> {
    if (this.#searches >= SEARCHES_LIMIT) {
      throw new ServiceError("overloaded", "Too many clients search for names");
    }
    this.#searches++;
    try {
      return await this.#readAsOfHead(query, head);
    } finally {
      this.#searches--;
    }
  }

  async #readAsOfHead(query: NameQuery, head: Head): Promise<Page> {
    const { readNewestHead } = this.#deps;
    const hasName = nameFilter(query.name);
    let asOf = head;
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const scanned = await this.#scan(query, hasName, asOf);
      const { head: newerHead } = await readNewestHead();
      const lineCount = newerHead.position - asOf.position;
      // A replay removes the records of an earlier generation.
      const isUsable = newerHead.generation === asOf.generation && lineCount <= SEARCH_LINES_LIMIT;
      if (isUsable) return await this.#pageOf(scanned, query, hasName, asOf, newerHead);
      asOf = newerHead;
    }
    const message = `Too much was changed during each of ${ATTEMPTS} searches for the name`;
    throw new ServiceError("store_unavailable", message);
  }

  /**
   * Reads the lists, always the one of which the newest pets are still unread, until the page is full. The lists are not
   * read at one moment: a pet that changes meanwhile may be found in two of them, or in none.
   */
  async #scan(query: NameQuery, hasName: NameFilter, head: Head): Promise<Scanned> {
    const { isRestDue, monotonicNow, turn } = this.#deps;
    const { limit, status, categoryId } = query;
    const batch = categoryId === undefined ? BATCH : CATEGORY_BATCH;
    const newest = newestOf(query, head);
    // A column has the pets of all lists in one order.
    const mergesLists = status === undefined && categoryId === undefined;
    const statuses = mergesLists ? PET_LISTS : [status];
    const lists = statuses.map((it) => ({ status: it, unreadTo: newest }));
    const deadline = monotonicNow() + SCAN_MS;
    const found: ReadPet[] = [];
    let count = 0;
    for (;;) {
      const list = lists.reduce((one, other) => other.unreadTo > one.unreadTo ? other : one);
      const oldest = list.unreadTo + 1;
      // Without progress, the cursor of the next page would be that of this page.
      const hasProgress = oldest <= newest;
      const isOver = count >= SCAN_LIMIT || monotonicNow() >= deadline;
      const isFull = found.filter(({ id }) => id >= oldest).length >= limit;
      if (oldest <= 1 || isFull || (isOver && hasProgress)) return { found, oldest, count };
      await turn();
      const most = Math.min(batch, Math.max(1, SCAN_LIMIT - count));
      const pets = await this.#readList(list.status, list.unreadTo, most, query, head);
      for (const read of pets) {
        // A long name may take half a millisecond.
        if (isRestDue()) await turn();
        if (read.pet === undefined || hasName(read.pet)) found.push(read);
      }
      count += pets.length;
      list.unreadTo = pets.length < most ? 0 : pets.at(-1)!.id - 1;
    }
  }

  /** The newest pets of the list of a status, or of a category, up to an id. */
  async #readList(
    status: StatusFilter | undefined,
    upTo: number,
    limit: number,
    { categoryId }: NameQuery,
    head: Head,
  ): Promise<ReadPet[]> {
    const { column, store } = this.#deps;
    if (categoryId !== undefined) {
      const query = { categoryId, status };
      const locations = findLocations(await column.asOf(head), query, { newest: upTo, limit });
      return await readPetsAt(store, locations, categoryId, head);
    }
    const list = petListOf(status);
    const range = { start: petKeyOf(head, list, 1), end: petKeyOf(head, list, upTo + 1) };
    const entries = await store.list(range, { limit, reverse: true });
    return entries.map((entry) => ({ id: idOf(entry), pet: petOf(entry) }));
  }

  /** The page of a scan as of a head. If pets have changed since, events up to the newer head replace what was found. */
  async #pageOf(
    { found, oldest, count }: Scanned,
    query: NameQuery,
    hasName: NameFilter,
    head: Head,
    newerHead: Head,
  ): Promise<Page> {
    const next = oldest > 1 ? oldest : undefined;
    const inPage = found.filter(({ id }) => id >= oldest).sort((one, other) => other.id - one.id);
    if (hasNoChangeAfter(head, newerHead)) {
      const isWhole = next === undefined && newestOf(query, head) === lastPetIdOf(head);
      if (isWhole) expectCount(count, query, head);
      return pageOf(soundPets(inPage, head), query, head, next);
    }
    const changed = await this.#changesBetween(head, newerHead);
    const unchanged = soundPets(inPage.filter(({ id }) => !changed.has(id)), head);
    const newest = newestOf(query, newerHead);
    const entered = [...changed.values()].filter((pet) => pet !== undefined)
      .filter((pet) => pet.id >= oldest && pet.id <= newest)
      .filter((pet) => matches(pet, query) && hasName(pet));
    return pageOf(newestFirst([...unchanged, ...entered]), query, newerHead, next);
  }

  /** The pets of the events between two heads, as petsAfter(). */
  async #changesBetween({ position }: Head, newerHead: Head) {
    const { store, turn } = this.#deps;
    const changed: ReturnType<typeof petsAfter> = new Map();
    for (let from = position + 1; from <= newerHead.position; from += BATCH) {
      await turn();
      const to = Math.min(newerHead.position, from + BATCH - 1);
      const after = petsAfter(await readEvents(store, from, to));
      for (const [id, pet] of after) changed.set(id, pet);
    }
    return changed;
  }
}

type NameFilter = (pet: PetRecord) => boolean;

/** Whether the name of a pet contains a text, without regard to case. */
function nameFilter(part: string): NameFilter {
  const folded = foldCase(part);
  return ({ text }) => foldCase(nameIn(text)).includes(folded);
}
