import { isPetEvent, type PetEvent, type RecordedEvent } from "../../events/event.ts";
import { encodePet, type PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import {
  PET_LISTS,
  petByCategoryKey,
  petKey,
  petListOf,
  projectionKey,
  removedPetKey,
} from "../keyspace.ts";
import {
  changePositionOf,
  countOf,
  type Head,
  type HeadEntry,
  lastPetIdOf,
  petCount,
  readHead,
} from "../log/head.ts";
import { ServiceError } from "../service_error.ts";
import { GET_MANY_LIMIT, type Key, type Store, type StoreEntry } from "../store/store.ts";
import { BoundedCache } from "../runtime/bounded_cache.ts";
import {
  damagedError,
  petOf,
  type PetRecord,
  readEvents,
  readProof,
  removalPositionOf,
} from "./project.ts";

/** Maximum numbers of cached pages and pets, and the maximum text of each of both, in UTF-16 code units. */
const PAGES_LIMIT = 20_000;
const PETS_LIMIT = 50_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

/** Maximum number of cursors for which the number of the pets on the later pages is remembered. */
const REMAINING_LIMIT = 20_000;

/** A page is read at most so many times, and not again after this time in milliseconds. */
const READ_ATTEMPTS = 30;
const READ_LIMIT_MS = 1_000;

/** A page of some ids follows at most so many events that came while it was read. */
export const IDS_LINES_LIMIT = 1_000;

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

/** The size of a code unit of a large page in the cache: up to two bytes of text, and as much in gzip. */
const LARGE_PAGE_UNIT = 4;

const lengthOf = ({ text }: { text: string }) => text.length;

function pageSize({ text: { length } }: { text: string }): number {
  return length < LARGE_PAGE_LENGTH ? length : LARGE_PAGE_UNIT * length;
}

/** The pets and pages that were read at one generation and `changePosition`. They are valid until a pet changes. */
function newCaches(generation: number, changePosition: number) {
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
  #caches = newCaches(0, 0);
  /** How many pets follow a page that was read, by {@linkcode remainingName}. Additions do not change these numbers. */
  #remaining = new BoundedCache<number>(REMAINING_LIMIT);

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
    if (id < 1 || id > lastPetIdOf(head)) return undefined;
    return this.#cachesFor(head).pets.get(id) ?? this.#readPet(id, head);
  }

  /**
   * The event that made the pet as it is, for a change, and never from a cache: the line at the position that the pet's
   * record names. No record may say that the pet was removed.
   */
  async getProven(id: number, { head }: { head: Head }): Promise<PetEvent | undefined> {
    if (id < 1 || id > lastPetIdOf(head)) return undefined;
    const pet = await this.#readUnlessRemoved(id, head);
    if (pet === undefined) return undefined;
    const { event } = await readProof(this.#store, pet.position);
    const isProven = (event.type === "PetCreated" || event.type === "PetUpdated") &&
      event.data.id === id && encodePet(event.data) === pet.text;
    if (isProven) return event;
    throw damagedError(petKeyOf(head, "", id), "does not follow from its event");
  }

  async #readUnlessRemoved(id: number, head: Head): Promise<PetRecord | undefined> {
    const removedKey = removedPetKeyOf(head, id);
    // All are read at one moment, so exactly one of them is there.
    const [removal, ...inLists] = await this.#store.getMany([removedKey, ...listKeysOf(head, id)]);
    const pet = onlyPetOf(inLists);
    if (pet === undefined) return await this.#readPet(id, head);
    if (removal === null) return pet;
    throw damagedError(removedKey, "is in a list, although the pet was removed");
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
      generation === head.generation && changePosition < changePositionOf(head);
    if (isOlder) this.#caches = newCaches(head.generation, changePositionOf(head));
    return this.#caches;
  }

  async #readPet(id: number, head: Head): Promise<PetRecord | undefined> {
    const pet = await this.#findPet(id, head);
    if (pet !== undefined) return pet;
    // A pet that was removed between the two reads has the record of its removal by now.
    const [position] = await this.#readRemovals([id], head);
    if (position !== undefined && position <= changePositionOf(head)) return undefined;
    const { head: now } = await this.#readNewestHead();
    // A replay removes the records of an earlier generation.
    if (now.generation !== head.generation) return await this.#readPet(id, now);
    expectRemoval(removedPetKeyOf(head, id), position, now);
    return undefined;
  }

  /** Resolves to `undefined` if the pet is in none of the lists. */
  async #findPet(id: number, head: Head): Promise<PetRecord | undefined> {
    const { pets, generation } = this.#cachesFor(head);
    // All are read at one moment, so one of the lists has the pet, unless it was removed.
    const pet = onlyPetOf(await this.#store.getMany(listKeysOf(head, id)));
    // A record of an earlier generation may be outdated.
    if (pet !== undefined && generation === head.generation) pets.set(id, pet);
    return pet;
  }

  /** The positions of the removals of pets; `undefined` for a pet without such a record. */
  async #readRemovals(ids: readonly number[], head: Head): Promise<(number | undefined)[]> {
    const keys = ids.map((id) => removedPetKeyOf(head, id));
    const reads: Promise<(StoreEntry | null)[]>[] = [];
    for (let start = 0; start < keys.length; start += GET_MANY_LIMIT) {
      reads.push(this.#store.getMany(keys.slice(start, start + GET_MANY_LIMIT)));
    }
    const entries = (await Promise.all(reads)).flat();
    return entries.map((entry) => entry === null ? undefined : removalPositionOf(entry));
  }

  /** Reads a page, again and again until it is as of one head, within the limits. */
  async #readPage(query: PageQuery, head: Head): Promise<Page> {
    const deadline = this.#monotonicNow() + READ_LIMIT_MS;
    for (let attempt = 1;; attempt++) {
      const { page, now } = query.ids === undefined
        ? await this.#tryLists(query, head, attempt)
        : await this.#tryIds(query, query.ids, head);
      if (page !== undefined) return page;
      if (attempt === READ_ATTEMPTS || this.#monotonicNow() > deadline) {
        const message = `The animals of the page were changed during each of ${attempt} reads`;
        throw new ServiceError("store_unavailable", message);
      }
      head = now;
    }
  }

  /**
   * Reads pets by their ids, each at some moment between a head and the newest head. The events between the two heads
   * replace what was read, so the page is as of the newest head, however often the pets change.
   */
  async #tryIds(query: PageQuery, ids: readonly number[], head: Head): Promise<Attempt> {
    const cached = this.#cachesFor(head).pets;
    const added = ids.filter((id) => id <= lastPetIdOf(head));
    const read = await Promise.all(added.map((id) => cached.get(id) ?? this.#findPet(id, head)));
    const missing = added.filter((_, index) => read[index] === undefined);
    // A pet that was removed between the two reads has the record of its removal by now.
    const removals = await this.#readRemovals(missing, head);
    const { head: now } = await this.#readNewestHead();
    // A replay removes the records of an earlier generation.
    if (now.generation !== head.generation) return { now };
    for (const [index, id] of missing.entries()) {
      expectRemoval(removedPetKeyOf(head, id), removals[index], now);
    }
    const found = newestFirst(read.filter((pet) => pet !== undefined));
    if (changePositionOf(now) <= head.position) return { page: pageOf(found, query, head), now };
    if (now.position - head.position > IDS_LINES_LIMIT) return { now };
    const events = await readEvents(this.#store, head.position + 1, now.position);
    return { page: pageOf(petsAfter(found, events, ids), query, now), now };
  }

  /**
   * Reads a page from the lists of pets. These are not read at one moment, so a pet that changes may be found in two of
   * them, or in none. The page is right if a second read of the head shows no change or removal of any pet since. A page
   * of all pets is also right if it has every id once, and none of its pets was changed after the head. Otherwise the
   * page must be tried again as of the newer head.
   */
  async #tryLists(query: PageQuery, head: Head, attempt: number): Promise<Attempt> {
    const pets = await this.#readPets(query, head);
    const isUnfiltered = query.status === undefined && query.categoryId === undefined;
    const newest = newestOf(query, head);
    const firstUnexpected = pets.findIndex(({ id, position }, index) =>
      id !== newest - index || position > head.position
    );
    const hasEveryId = firstUnexpected === -1 &&
      pets.length === Math.min(newest, query.limit + 1);
    if (isUnfiltered && hasEveryId) {
      return { page: this.#countedPage(pets, query, head), now: head };
    }
    const { head: now } = await this.#readNewestHead();
    // One list is read at one moment, so after all attempts a page of one status is shown although pets have changed.
    const isLast = attempt === READ_ATTEMPTS && query.status !== undefined;
    if (now.generation !== head.generation) return { now };
    if (changePositionOf(now) > head.position) {
      // The head does not count these pets.
      return { page: isLast ? pageOf(pets, query, head) : undefined, now };
    }
    const twice = pets.find(({ id }, index) => id === pets[index + 1]?.id);
    if (twice === undefined && (!isUnfiltered || hasGaps(head))) {
      return { page: this.#countedPage(pets, query, head), now };
    }
    const missing = newest - (firstUnexpected === -1 ? pets.length : firstUnexpected);
    const key = petKeyOf(head, "", twice?.id ?? missing);
    throw damagedError(key, "is missing, or is there twice");
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
    const { limit, status, categoryId } = query;
    const lists = status === undefined ? PET_LISTS : [petListOf(status)];
    const newest = newestOf(query, head);
    const isDense = status === undefined && categoryId === undefined && !hasGaps(head);
    const oldest = isDense ? Math.max(1, newest - limit) : 1;
    const found = lists.map(async (list) => {
      const keyOf = (id: number) =>
        categoryId === undefined
          ? petKeyOf(head, list, id)
          : projectionKey(head.generation, petByCategoryKey(categoryId, list, id));
      const range = { start: keyOf(oldest), end: keyOf(newest + 1) };
      const entries = await this.#store.list(range, { limit: limit + 1, reverse: true });
      return entries.map(petOf);
    });
    const pets = (await Promise.all(found)).flat();
    return newestFirst(pets).slice(0, limit + 1);
  }
}

/** The outcome of one attempt to read a page. */
interface Attempt {
  /** Absent if pets have changed during the attempt. */
  page?: Page;
  /** The newest head that the attempt has read. */
  now: Head;
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

function newestFirst(pets: readonly PetRecord[]): PetRecord[] {
  return pets.toSorted((one, other) => other.id - one.id);
}

/** The id of the newest pet that a page may have at a head. */
function newestOf({ cursor = Infinity }: PageQuery, head: Head): number {
  return Math.min(cursor - 1, lastPetIdOf(head));
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
export function totalOf(query: PageQuery, { total }: Page, head: Head) {
  return (query.categoryId ?? query.ids) === undefined ? countFor(query, head) : total;
}

/** Number of pets of the status of a query, or of all, at a head. */
function countFor({ status }: PageQuery, head: Head): number {
  return status === undefined ? petCount(head) : countOf(head, petListOf(status));
}

/** The name of the number of pets from the cursor of a query on. After a change of any pet, it is another name. */
function remainingName({ status, cursor }: PageQuery, head: Head) {
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

/** The pet that at most one of the lists has. Throws `projection_damaged`. */
function onlyPetOf(inLists: readonly (StoreEntry | null)[]): PetRecord | undefined {
  const [entry, other] = inLists.filter((it) => it !== null);
  if (other !== undefined) throw damagedError(other.key, "is there twice");
  return entry && petOf(entry);
}

/** Throws unless the record of a removal is there, and names a position of the log. */
function expectRemoval(key: Key, position: number | undefined, head: Head): void {
  if (position === undefined) throw damagedError(key, "is missing");
  if (position > changePositionOf(head)) throw damagedError(key, "names no position of a removal");
}

function listKeysOf(head: Head, id: number) {
  return PET_LISTS.map((list) => petKeyOf(head, list, id));
}

function removedPetKeyOf({ generation }: Head, id: number) {
  return projectionKey(generation, removedPetKey(id));
}

function petKeyOf({ generation }: Head, list: string, id: number) {
  return projectionKey(generation, petKey(list, id));
}
