import { encodePet, type PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { PET_LISTS, petKey, petListOf, projectionKey } from "../keyspace.ts";
import { type Head, type HeadEntry, readHead } from "../log/head.ts";
import { readEvents } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { BoundedCache } from "./bounded_cache.ts";
import { damagedError, petOf, type PetRecord, readProof } from "./project.ts";

/** Maximum numbers of cached pages and pets, and the maximum text of each of both, in UTF-16 code units. */
const PAGES_LIMIT = 1_000;
const PETS_LIMIT = 50_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

/** Maximum number of attempts to read a page while its pets are changed. */
const READ_ATTEMPTS = 10;

/** Maximum number of events to look at for changes during the read of a page. With more, it is read again. */
const EVENTS_LIMIT = 1_000;

export interface PageQuery {
  /** Maximum number of pets, 1 to 100. */
  limit: number;
  status?: PetStatus;
  /** Only pets with a smaller id than this one. */
  cursor?: number;
}

/** A page as returned to clients. */
export interface Page {
  /** A JSON array of Pet, newest first. */
  text: string;
  /** The cursor of the page after this one; absent on the last. */
  next?: number;
  /** SHA-256 (hex) of the text and the cursor. */
  hash: string;
  /** The newest pet when it was read. */
  lastPetId: number;
}

const lengthOf = ({ text }: { text: string }) => text.length;

/** Pets and pages as they are at one generation and `changePosition`. An addition changes only the first pages. */
function newCaches({ generation, changePosition }: Pick<Head, "generation" | "changePosition">) {
  const pets = new BoundedCache<PetRecord>(PETS_LIMIT, TEXT_LIMIT, lengthOf);
  const pages = new BoundedCache<Page>(PAGES_LIMIT, TEXT_LIMIT, lengthOf);
  return { generation, changePosition, pets, pages };
}

/** Reads pets and pages of pets as of a head, or as of a later one. Any change of a pet begins new caches. */
export class PetReader {
  #store: Store;
  #readNewestHead: () => Promise<HeadEntry>;
  #caches = newCaches({ generation: 0, changePosition: 0 });
  /** The pages that are being read, by their queries and heads. */
  #reading = new Map<string, Promise<Page>>();

  /** `readNewestHead` reads the head, and rejects if it cannot be trusted. */
  constructor(store: Store, readNewestHead: () => Promise<HeadEntry> = () => readHead(store)) {
    this.#store = store;
    this.#readNewestHead = readNewestHead;
  }

  /** Returns the pet with an id, or `undefined` if that pet does not exist. Rejects with `projection_damaged`. */
  get(id: number, { head }: HeadEntry): PetRecord | undefined | Promise<PetRecord> {
    if (id < 1 || id > head.lastPetId) return undefined;
    return this.#cachesFor(head).pets.get(id) ?? this.#readPet(id, head);
  }

  /** As {@linkcode get}, for a change: the line at the position of the record must be the event that made the pet so. */
  async getProven(id: number, entry: HeadEntry): Promise<PetRecord | undefined> {
    const pet = await this.get(id, entry);
    if (pet === undefined) return undefined;
    const { event } = await readProof(this.#store, pet.position);
    const isProven = (event.type === "PetCreated" || event.type === "PetUpdated") &&
      event.data.id === id && encodePet(event.data) === pet.text;
    if (isProven) return pet;
    throw damagedError(petKeyOf(entry.head, "", id), "does not follow from its event");
  }

  /** A page of pets, all as of one head. Rejects with `projection_damaged`, and if they are changed during each attempt. */
  list(query: PageQuery, entry: HeadEntry): Page | Promise<Page> {
    const { status = "", limit, cursor = Infinity } = query;
    const { generation, changePosition, lastPetId } = entry.head;
    const { pages, pets } = this.#cachesFor(entry.head);
    const name = `${status}/${limit}/${cursor}`;
    const cached = pages.get(name);
    const newest = Math.min(cursor - 1, lastPetId);
    const isValid = cached !== undefined && newest <= cached.lastPetId;
    const known = isValid || status !== "" ? undefined : knownPets(pets, newest, limit + 1);
    if (isValid) return cached;
    if (known !== undefined) {
      return pages.set(name, pageOf(known.slice(0, limit), known.length <= limit, lastPetId));
    }
    const readName = `${name}/${generation}/${changePosition}/${lastPetId}`;
    // Node 24 has no Map.getOrInsertComputed().
    const shared = this.#reading.get(readName);
    if (shared !== undefined) return shared;
    const reading = this.#readPage(query, name, entry)
      .finally(() => this.#reading.delete(readName));
    this.#reading.set(readName, reading);
    return reading;
  }

  /** Returns the caches, after it has replaced those of an older head. A request may see a later state than its head. */
  #cachesFor(head: Head) {
    const { generation, changePosition } = this.#caches;
    const isOlder = generation < head.generation ||
      generation === head.generation && changePosition < head.changePosition;
    if (isOlder) this.#caches = newCaches(head);
    return this.#caches;
  }

  async #readPet(id: number, head: Head): Promise<PetRecord> {
    const { pets, generation } = this.#cachesFor(head);
    const keys = PET_LISTS.map((list) => petKeyOf(head, list, id));
    // All are read at one moment, so one of the lists has the pet.
    const found = (await this.#store.getMany(keys)).filter((entry) => entry !== null);
    if (found.length !== 1) throw damagedError(keys[0], "is missing, or is there twice");
    const pet = petOf(found[0]);
    // A pet that changed after the head does not fit the others. A record of an earlier generation may be outdated.
    if (generation === head.generation && pet.position <= head.position) pets.set(id, pet);
    return pet;
  }

  async #readPage(query: PageQuery, name: string, entry: HeadEntry): Promise<Page> {
    const { limit, status, cursor = Infinity } = query;
    for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt++) {
      const { head } = entry;
      const { pets, pages } = this.#cachesFor(head);
      const newest = Math.min(cursor - 1, head.lastPetId);
      const entries = await this.#entriesOf(query, newest, head);
      const oldest = entries.length > limit ? idOf(entries[limit]) : 1;
      // The lists are not read at one moment, so a pet that changes may be in two of them, or in none.
      entry = await this.#readNewestHead();
      if (await this.#isChanged({ oldest, newest, status }, head, entry.head)) continue;
      if (status === undefined) expectAll(entries, newest, limit, head);
      const shown = entries.slice(0, limit).map(petOf);
      // Only pages of all pets are made of cached pets.
      if (status === undefined) { for (const pet of shown) pets.set(pet.id, pet); }
      return pages.set(name, pageOf(shown, entries.length <= limit, head.lastPetId));
    }
    const message = `The animals of the page were changed during each of ${READ_ATTEMPTS} reads`;
    throw new ServiceError("store_unavailable", message);
  }

  /** The records of the pets of a page from `newest` on, newest first, and one more unless it is the last page. */
  async #entriesOf({ status, limit }: PageQuery, newest: number, head: Head) {
    const lists = status === undefined ? PET_LISTS : [petListOf(status)];
    // Ids have no gaps, so those of a page of all pets are known.
    const oldest = status === undefined ? Math.max(1, newest - limit) : 1;
    const found = await Promise.all(lists.map((list) => {
      const range = { start: petKeyOf(head, list, oldest), end: petKeyOf(head, list, newest + 1) };
      return this.#store.list(range, { limit: limit + 1, reverse: true });
    }));
    if (found.length === 1) return found[0];
    return found.flat().sort((one, other) => idOf(other) - idOf(one));
  }

  /** Whether a pet that the page shows, or could show, may have been changed after `head`, up to `now`. */
  async #isChanged(
    { oldest, newest, status }: { oldest: number; newest: number; status?: PetStatus },
    head: Head,
    now: Head,
  ): Promise<boolean> {
    if (now.generation !== head.generation) return true;
    const range = { from: head.position + 1, to: now.changePosition };
    if (range.to < range.from) return false;
    if (range.to - range.from >= EVENTS_LIMIT) return true;
    const lines = await readEvents(this.#store, range);
    return lines === undefined || lines.some(({ event: { type, data } }) => {
      return type === "PetUpdated" && data.id >= oldest && data.id <= newest &&
        (status === undefined || [data.status, data.previous.status].includes(status));
    });
  }
}

/** Throws `projection_damaged` unless the records are those of all ids of a page of all pets, each once. */
function expectAll(entries: StoreEntry[], newest: number, limit: number, head: Head): void {
  for (let index = 0; index < Math.max(entries.length, Math.min(limit + 1, newest)); index++) {
    if (index < entries.length && idOf(entries[index]) === newest - index) continue;
    const key = petKeyOf(head, "", newest - index);
    throw damagedError(key, "is missing, or is there twice");
  }
}

/** So many pets from `newest` on, or all of them, if all are cached. */
function knownPets(pets: BoundedCache<PetRecord>, newest: number, count: number) {
  const known: PetRecord[] = [];
  for (let id = newest; id >= 1 && known.length < count; id--) {
    const pet = pets.get(id);
    if (pet === undefined) return undefined;
    known.push(pet);
  }
  return known;
}

function pageOf(pets: PetRecord[], isLast: boolean, lastPetId: number): Page {
  const text = `[${pets.map(({ text }) => text).join(",")}]`;
  const next = isLast ? undefined : pets.at(-1)!.id;
  return { text, next, hash: sha256Hex(`${next ?? ""}${text}`), lastPetId };
}

function petKeyOf({ generation }: Head, list: string, id: number) {
  return projectionKey(generation, petKey(list, id));
}

function idOf({ key }: StoreEntry): number {
  return key.at(-1) as number;
}
