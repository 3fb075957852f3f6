import { encodePet, type PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { PET_LISTS, petByCategoryKey, petKey, petListOf, projectionKey } from "../keyspace.ts";
import { type Head, type HeadEntry, petCount, readHead } from "../log/head.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import { BoundedCache } from "./bounded_cache.ts";
import { damagedError, petOf, type PetRecord, readProof } from "./project.ts";

/** Maximum numbers of cached pages and pets, and the maximum text of each of both, in UTF-16 code units. */
const PAGES_LIMIT = 20_000;
const PETS_LIMIT = 50_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

/** A page is read at most so many times, and not again after this time in milliseconds. */
const READ_ATTEMPTS = 30;
const READ_LIMIT_MS = 1_000;

export interface PageQuery {
  /** Maximum number of pets, 1 to 100. */
  limit: number;
  status?: PetStatus;
  categoryId?: bigint;
  /** Only pets with a smaller id than this one. */
  cursor?: number;
  /** Only these, 1 to 100; without any other condition. */
  ids?: readonly number[];
}

export interface Page {
  /** A JSON array of Pet, newest first. */
  text: string;
  /** The cursor of the page after this one; absent on the last. */
  next?: number;
  /** SHA-256 (hex) of the text and the cursor. */
  hash: string;
  /** The page is as of this head, and as of later ones for which it is cached. */
  head: Head;
  /** Number of pets that match the query, if only the page shows it. */
  total?: number;
  /** The text in gzip, once a client has asked for it. */
  gzip?: Promise<Uint8Array>;
  /** The headers of the last response with this page. Responses as of the same head share them. */
  shown?: { head: Head; baseUrl: string; headers: Record<string, string> };
}

/** A page is large from so many UTF-16 code units on. */
export const LARGE_PAGE_LENGTH = 64 * 1024;

/** What a large page counts for each code unit: up to two bytes of text, and as much in gzip. */
const LARGE_PAGE_UNIT = 4;

const lengthOf = ({ text }: { text: string }) => text.length;

function pageSize({ text: { length } }: { text: string }): number {
  return length < LARGE_PAGE_LENGTH ? length : LARGE_PAGE_UNIT * length;
}

/** The pets and pages that were read at one generation and `changePosition`. They are valid until a pet changes. */
function newCaches({ generation, changePosition }: Pick<Head, "generation" | "changePosition">) {
  const pets = new BoundedCache<PetRecord>(PETS_LIMIT, TEXT_LIMIT, lengthOf);
  const pages = new BoundedCache<Page>(PAGES_LIMIT, TEXT_LIMIT, pageSize);
  return { generation, changePosition, pets, pages, reading: new Map<string, Promise<Page>>() };
}

/** Reads pets and pages of pets as of a head, or as of a later moment. Any change of a pet begins new caches. */
export class PetReader {
  #store: Store;
  #readNewestHead: () => Promise<HeadEntry>;
  #monotonicNow: () => number;
  #beforeRead: (limit: number) => Promise<void> | undefined;
  #caches = newCaches({ generation: 0, changePosition: 0 });

  /**
   * `readNewestHead` reads the head, and rejects if it cannot be trusted. `beforeRead` resolves when a page of so many pets
   * may be read, or returns `undefined`.
   */
  constructor(
    store: Store,
    readNewestHead: () => Promise<HeadEntry> = () => readHead(store),
    monotonicNow = () => 0,
    beforeRead: (limit: number) => Promise<void> | undefined = () => undefined,
  ) {
    this.#beforeRead = beforeRead;
    this.#monotonicNow = monotonicNow;
    this.#store = store;
    this.#readNewestHead = readNewestHead;
  }

  /** Returns the pet with an id, or `undefined` if that pet does not exist. Rejects with `projection_damaged`. */
  get(id: number, { head }: { head: Head }) {
    if (id < 1 || id > head.lastPetId) return undefined;
    return this.#cachesFor(head).pets.get(id) ?? this.#readPet(id, head);
  }

  /** As {@linkcode get}, for a change: the line at the position of the record must be the event that made the pet as it is. */
  async getProven(id: number, entry: HeadEntry): Promise<PetRecord | undefined> {
    const pet = await this.get(id, entry);
    if (pet === undefined) return undefined;
    const { event } = await readProof(this.#store, pet.position);
    const isProven = (event.type === "PetCreated" || event.type === "PetUpdated") &&
      event.data.id === id && encodePet(event.data) === pet.text;
    if (isProven) return pet;
    throw damagedError(petKeyOf(entry.head, "", id), "does not follow from its event");
  }

  /** A page of pets, all as of one moment. Rejects with `projection_damaged`, and if they are changed during each attempt. */
  list(query: PageQuery, { head }: HeadEntry): Page | Promise<Page> {
    const { pages, reading } = this.#cachesFor(head);
    // An addition outdates only the pages that begin with the newest pets.
    const { limit, status, categoryId, cursor, ids } = query;
    const name = `${head.generation}/${status}/${categoryId}/${limit}/${cursor}/${ids}/` +
      newestOf(query, head);
    // Node 24 has no Map.getOrInsertComputed().
    const known = pages.get(name) ?? reading.get(name);
    if (known !== undefined) return known;
    const turn = this.#beforeRead(limit);
    const readPage = () => this.#readPage(query, head);
    const read = turn === undefined ? readPage() : turn.then(readPage);
    const page = read.then((it) => pages.set(name, it)).finally(() => reading.delete(name));
    reading.set(name, page);
    return page;
  }

  /** Returns the caches, after it has replaced those of an older head. A request may see a later state than its head. */
  #cachesFor(head: Head) {
    const { generation, changePosition } = this.#caches;
    const isOlder = generation < head.generation ||
      generation === head.generation && changePosition < head.changePosition;
    if (isOlder) this.#caches = newCaches(head);
    return this.#caches;
  }

  async #readPet(id: number, head: Head): Promise<PetRecord | undefined> {
    const { pets, generation } = this.#cachesFor(head);
    const keys = PET_LISTS.map((list) => petKeyOf(head, list, id));
    // All are read at one moment, so one of the lists has the pet, unless it was removed.
    const found = (await this.#store.getMany(keys)).filter((entry) => entry !== null);
    if (found.length === 0) {
      // A replay removes the records of an earlier generation.
      const { head: now } = await this.#readNewestHead();
      if (now.generation !== head.generation) return await this.#readPet(id, now);
      if (hasGaps(now)) return undefined;
    }
    if (found.length !== 1) throw damagedError(keys[0], "is missing, or is there twice");
    const pet = petOf(found[0]);
    // A record of an earlier generation may be outdated.
    return generation === head.generation ? pets.set(id, pet) : pet;
  }

  /**
   * Reads a page from the lists of pets. These are not read at one moment, so a pet that changes may be found in two of
   * them, or in none. The page is right if a second read of the head shows no change or removal of any pet since. A page
   * of all pets is also right if it has every id once, and none of its pets was changed after the head. Otherwise the
   * page is read again, as of the newer head.
   */
  async #readPage(query: PageQuery, head: Head): Promise<Page> {
    const deadline = this.#monotonicNow() + READ_LIMIT_MS;
    for (let attempt = 1;; attempt++) {
      const pets = await this.#readPets(query, head);
      const isUnfiltered = query.status === undefined && query.categoryId === undefined &&
        !query.ids;
      const newest = newestOf(query, head);
      const firstUnexpected = pets.findIndex(({ id, position }, index) =>
        id !== newest - index || position > head.position
      );
      const hasEveryId = firstUnexpected === -1 &&
        pets.length === Math.min(newest, query.limit + 1);
      if (isUnfiltered && hasEveryId) return pageOf(pets, query, head);
      const { head: now } = await this.#readNewestHead();
      // One list is read at one moment, so after all attempts a page of one status is shown although pets have changed.
      const isLast = attempt === READ_ATTEMPTS && query.status !== undefined;
      if (now.generation === head.generation && (isLast || now.changePosition <= head.position)) {
        const twice = pets.find(({ id }, index) => id === pets[index + 1]?.id);
        if (twice === undefined && (!isUnfiltered || hasGaps(head))) {
          return pageOf(pets, query, head);
        }
        const missing = newest - (firstUnexpected === -1 ? pets.length : firstUnexpected);
        const key = petKeyOf(head, "", twice?.id ?? missing);
        throw damagedError(key, "is missing, or is there twice");
      }
      if (attempt === READ_ATTEMPTS || this.#monotonicNow() > deadline) {
        const message = `The animals of the page were changed during each of ${attempt} reads`;
        throw new ServiceError("store_unavailable", message);
      }
      head = now;
    }
  }

  /** The pets that a page may show, newest first, and the next one if there are more. */
  async #readPets(query: PageQuery, head: Head): Promise<PetRecord[]> {
    const { limit, status, categoryId, ids } = query;
    const lists = status === undefined ? PET_LISTS : [petListOf(status)];
    const newest = newestOf(query, head);
    const isDense = status === undefined && categoryId === undefined && !hasGaps(head);
    const oldest = isDense ? Math.max(1, newest - limit) : 1;
    const found = ids?.map((id) => this.get(id, { head })) ?? lists.map(async (list) => {
      const keyOf = (id: number) =>
        categoryId === undefined
          ? petKeyOf(head, list, id)
          : projectionKey(head.generation, petByCategoryKey(categoryId, list, id));
      const range = { start: keyOf(oldest), end: keyOf(newest + 1) };
      const entries = await this.#store.list(range, { limit: limit + 1, reverse: true });
      return entries.map(petOf);
    });
    const pets = (await Promise.all(found)).flat().filter((pet) => pet !== undefined);
    return pets.sort((one, other) => other.id - one.id).slice(0, limit + 1);
  }
}

/** The id of the newest pet that a page may have at a head. */
function newestOf({ cursor = Infinity }: PageQuery, { lastPetId }: Head): number {
  return Math.min(cursor - 1, lastPetId);
}

function pageOf(pets: PetRecord[], { limit, cursor, categoryId, ids }: PageQuery, head: Head) {
  const shown = pets.slice(0, limit);
  const text = `[${shown.map(({ text }) => text).join(",")}]`;
  const next = pets.length > limit ? shown.at(-1)!.id : undefined;
  const isCounted = (categoryId ?? ids) !== undefined && next === undefined && cursor === undefined;
  const total = isCounted ? pets.length : undefined;
  return { text, next, hash: sha256Hex(`${next ?? ""}${text}`), head, total };
}

/** The head that a page shows: the later one of its own and that of the request, for which a cached page is valid. */
export function headOf(page: Page, { head }: HeadEntry): Head {
  return page.head.position > head.position ? page.head : head;
}

/** How many pets match a query at the head that its page shows; `undefined` if only a scan could tell. */
export function totalOf({ status, categoryId, ids }: PageQuery, { total }: Page, head: Head) {
  if ((categoryId ?? ids) !== undefined) return total;
  return status === undefined ? petCount(head) : head.counts[petListOf(status)];
}

/** Whether pets were removed, so that ids are missing. */
function hasGaps(head: Head): boolean {
  return petCount(head) < head.lastPetId;
}

function petKeyOf({ generation }: Head, list: string, id: number) {
  return projectionKey(generation, petKey(list, id));
}
