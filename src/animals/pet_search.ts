/** Searches for pets by words. Without an index of words, a search reads a bounded number of pets. */

import { type Head, ServiceError } from "eventstore-less";
import { categoryIdIn, type Pet } from "../../events/pet.ts";
import { hasWords, searchedText, wordsOf } from "../encoding/word_search.ts";
import type { CategoryDeps } from "./category_reader.ts";
import {
  endedAt,
  type PageCondition,
  type PageQuery,
  type PetsOfHead,
  type Searching,
} from "./page.ts";
import { PageReader } from "./page_reader.ts";
import type { PetRecord } from "./pet_records.ts";
import { PetSummary } from "./pet_summary.ts";

/** A page ends when so many pets were read, or after so many milliseconds. */
export const SCAN_LIMIT = 20_000;
export const SCAN_MS = 2_000;

/** Pets of one read, which takes about a millisecond of the thread. */
const PART = 128;

/** Maximum number of searches at once, of an instance and of one API key. They share the turns. */
export const SEARCHES_LIMIT = 100;
export const SEARCHES_OF_KEY_LIMIT = 25;

/** The name under which all searches are measured: they may take seconds, and would hide how long lists take. */
export const MEASURED_AS = "listPetsByName";

/** The names of categories, which `q` searches. */
export interface CategoryNames {
  /** The named categories as of a head or a later one. */
  asOf(head: Head): Promise<ReadonlyMap<bigint, { name: string }>>;
  /** Position of the last event of any category; 0 without one. */
  changedAt(head: Head): number;
}

export interface PetSearchDeps extends CategoryDeps {
  categoryNames: CategoryNames;
  /** Resolves when a part of a scan may be read. */
  turn: () => Promise<void>;
  /** Whether such a part has to end now, and the next one needs a turn. */
  isRestDue: () => boolean;
}

/** What is done with the pets of a scan, in the order of its query. */
interface Visitor {
  onPet(pet: PetRecord, isFound: boolean): void;
  /** Whether the scan may end before its limits. */
  isDone(): boolean;
}

/** How far a scan came. */
interface Scanned {
  /** The head of its first part. */
  head: Head;
  /** The cursor of the rest, if there is one. */
  next: number | undefined;
}

export class PetSearch {
  #deps: PetSearchDeps;
  #pages: PageReader;
  /** The API keys of the searches that are running. */
  #running = new Set<{ apiKeyId: string | undefined }>();

  constructor(deps: PetSearchDeps) {
    this.#deps = deps;
    this.#pages = new PageReader(deps);
  }

  /** Throws `overloaded` or `rate_limited` unless there is a place for a search of an API key. */
  expectPlace(apiKeyId: string | undefined): void {
    if (this.#running.size >= SEARCHES_LIMIT) {
      throw new ServiceError("overloaded", "Too many searches are running");
    }
    const ofKey = [...this.#running].filter((search) => search.apiKeyId === apiKeyId);
    if (ofKey.length >= SEARCHES_OF_KEY_LIMIT) {
      const message = `An API key may search ${SEARCHES_OF_KEY_LIMIT} times at once`;
      throw new ServiceError("rate_limited", message);
    }
  }

  /**
   * Reads a page in parts, each at one moment. The page names the head of the first part: the given one or a later one. It
   * may have fewer pets than its limit, or none, although there is a next one. Rejects as {@linkcode PageReader.read} does.
   */
  async read(
    query: PageQuery & Searching,
    head: Head,
    apiKeyId: string | undefined,
  ): Promise<PetsOfHead> {
    const found: PetRecord[] = [];
    const scanned = await this.#scan(query, head, apiKeyId, {
      onPet(pet, isFound) {
        if (isFound) found.push(pet);
      },
      isDone: () => found.length >= query.limit,
    });
    return endedAt(query.limit, found, scanned.head, scanned.next);
  }

  /** Counts what read() would find, on all its pages as far as one scan goes. */
  async summarize(
    query: PageCondition & Searching,
    head: Head,
    apiKeyId: string | undefined,
  ): Promise<Scanned & { summary: PetSummary }> {
    const summary = new PetSummary(searchOf(query));
    const scanned = await this.#scan(query, head, apiKeyId, {
      onPet: (pet, isFound) => isFound ? summary.count(pet) : summary.passOver(pet),
      isDone: () => false,
    });
    return { ...scanned, summary };
  }

  async #scan(
    query: PageCondition & Searching,
    head: Head,
    apiKeyId: string | undefined,
    visitor: Visitor,
  ): Promise<Scanned> {
    const search = { apiKeyId };
    this.#running.add(search);
    try {
      return await this.#visit(query, head, visitor);
    } finally {
      this.#running.delete(search);
    }
  }

  async #visit(query: PageCondition & Searching, head: Head, visitor: Visitor): Promise<Scanned> {
    const { isRestDue, monotonicNow, turn } = this.#deps;
    const deadline = monotonicNow() + SCAN_MS;
    const { name: _name, q: _q, ...others } = query;
    let latest = head;
    let first: Head | undefined;
    let isFound: Filter | undefined;
    let count = 0;
    /** The cursor of the page after the pets that were looked at. */
    let next = query.cursor;
    const isOver = () => next !== query.cursor && monotonicNow() >= deadline;
    do {
      await turn();
      const limit = Math.min(PART, SCAN_LIMIT - count);
      const part = await this.#pages.readPart({ ...others, cursor: next, limit }, latest);
      latest = part.head;
      first ??= latest;
      isFound ??= await this.#filterOf(query, first);
      count += limit;
      for (const pet of part.pets) {
        // A long name may take a millisecond, and others may have their turns meanwhile.
        if (isRestDue()) await turn();
        if (isOver()) return { head: first, next };
        visitor.onPet(pet, isFound(pet));
        next = pet.id;
      }
      next = part.next;
    } while (next !== undefined && !visitor.isDone() && count < SCAN_LIMIT && !isOver());
    return { head: first, next };
  }

  async #filterOf({ name, q }: PageCondition, head: Head): Promise<Filter> {
    if (q === undefined) return nameFilter(name!);
    return textFilter(q, await this.#deps.categoryNames.asOf(head));
  }
}

function searchOf({ name, q }: PageCondition): string {
  return q ?? name!;
}

/** Whether a search finds a pet. */
type Filter = (pet: PetRecord) => boolean;

/** Whether the name of a pet has the words of a search. */
function nameFilter(search: string): Filter {
  const words = wordsOf(search);
  return ({ text }) => hasWords(searchedText(partsOf(text).name), words);
}

/** Whether the name, the note and the name of the category of a pet together have the words of a search. */
function textFilter(search: string, names: ReadonlyMap<bigint, { name: string }>): Filter {
  const words = wordsOf(search);
  const byCategory = new Map<string, string>();
  const nameOfCategory = (id: string) => {
    const known = byCategory.get(id);
    if (known !== undefined) return known;
    const name = searchedText(names.get(BigInt(id))?.name ?? "");
    byCategory.set(id, name);
    return name;
  };
  return ({ text }) => {
    const { name, note = "" } = partsOf(text);
    const ofPet = searchedText(`${name}\n${note}`);
    // No word has a line break, so none is in two of them.
    return hasWords(`${ofPet}\n${nameOfCategory(categoryIdIn(text)!)}`, words);
  };
}

function partsOf(petText: string): Pick<Pet, "name" | "note"> {
  return JSON.parse(petText);
}
