/** Searches for pets by a part of their names. Without an index of names, it reads a bounded number of pets. */

import { type Head, ServiceError } from "eventstore-less";
import { foldName } from "../encoding/fold_name.ts";
import { nameIn } from "../../events/pet.ts";
import type { CategoryDeps } from "./category_reader.ts";
import { endedAt, type PageQuery, type PetsOfHead } from "./page.ts";
import { PageReader } from "./page_reader.ts";
import type { PetRecord } from "./pet_records.ts";

/** A page ends when so many pets were read, or after so many milliseconds. */
export const SCAN_LIMIT = 20_000;
export const SCAN_MS = 2_000;

/** Pets of one read, which takes about a millisecond of the thread. */
const PART = 128;

/** Maximum number of searches at once, of an instance and of one API key. They share the turns. */
export const SEARCHES_LIMIT = 100;
export const SEARCHES_OF_KEY_LIMIT = 25;

export type NameQuery = PageQuery & { name: string };

export interface NameSearchDeps extends CategoryDeps {
  /** Resolves when a part of a scan may be read. */
  turn: () => Promise<void>;
  /** Whether such a part has to end now, and the next one needs a turn. */
  isRestDue: () => boolean;
}

export class NameSearch {
  #deps: NameSearchDeps;
  #pages: PageReader;
  /** The API keys of the searches that are running. */
  #running = new Set<{ apiKeyId: string | undefined }>();

  constructor(deps: NameSearchDeps) {
    this.#deps = deps;
    this.#pages = new PageReader(deps);
  }

  /** Throws `overloaded` or `rate_limited` unless there is a place for a search of an API key. */
  expectPlace(apiKeyId: string | undefined): void {
    if (this.#running.size >= SEARCHES_LIMIT) {
      throw new ServiceError("overloaded", "Too many searches for a name are running");
    }
    const ofKey = [...this.#running].filter((search) => search.apiKeyId === apiKeyId);
    if (ofKey.length >= SEARCHES_OF_KEY_LIMIT) {
      const message = `An API key may search for names ${SEARCHES_OF_KEY_LIMIT} times at once`;
      throw new ServiceError("rate_limited", message);
    }
  }

  /**
   * Reads a page in parts, each at one moment. The page names the head of the first part: the given one or a later one. It
   * may have fewer pets than its limit, or none, although there is a next one. Rejects as {@linkcode PageReader.read} does.
   */
  async read(query: NameQuery, head: Head, apiKeyId: string | undefined): Promise<PetsOfHead> {
    const search = { apiKeyId };
    this.#running.add(search);
    try {
      return await this.#scan(query, head);
    } finally {
      this.#running.delete(search);
    }
  }

  async #scan({ name, ...query }: NameQuery, head: Head): Promise<PetsOfHead> {
    const { isRestDue, monotonicNow, turn } = this.#deps;
    const deadline = monotonicNow() + SCAN_MS;
    const hasName = nameFilter(name);
    const found: PetRecord[] = [];
    let latest = head;
    let first: Head | undefined;
    let count = 0;
    /** The cursor of the page after the pets that were looked at. */
    let next = query.cursor;
    const isOver = () => next !== query.cursor && monotonicNow() >= deadline;
    do {
      await turn();
      const limit = Math.min(PART, SCAN_LIMIT - count);
      const part = await this.#pages.readPart({ ...query, cursor: next, limit }, latest);
      latest = part.head;
      first ??= latest;
      count += limit;
      for (const pet of part.pets) {
        // A long name may take a millisecond, and others may have their turns meanwhile.
        if (isRestDue()) await turn();
        if (isOver()) return endedAt(query.limit, found, first, next);
        if (hasName(pet)) found.push(pet);
        next = pet.id;
      }
      next = part.next;
    } while (next !== undefined && found.length < query.limit && count < SCAN_LIMIT && !isOver());
    return endedAt(query.limit, found, first, next);
  }
}

/** Whether the name of a pet contains a text, as foldName() compares them. */
function nameFilter(part: string): (pet: PetRecord) => boolean {
  const folded = foldName(part);
  return ({ text }) => foldName(nameIn(text)).includes(folded);
}
