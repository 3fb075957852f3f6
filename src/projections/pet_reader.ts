import { encodePet, type PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { PET_LISTS, petKey, petListOf, projectionKey } from "../keyspace.ts";
import { type Head, type HeadEntry, readHead } from "../log/head.ts";
import { ServiceError } from "../service_error.ts";
import type { Store } from "../store/store.ts";
import { BoundedCache } from "./bounded_cache.ts";
import { damagedError, petOf, type PetRecord, readProof } from "./project.ts";

/** Maximum numbers of cached pages and pets, and the maximum text of each of both, in UTF-16 code units. */
const PAGES_LIMIT = 20_000;
const PETS_LIMIT = 50_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

/** Maximum number of attempts to read a page of all pets while its pets are changed. */
const READ_ATTEMPTS = 10;

export interface PageQuery {
  /** Maximum number of pets, 1 to 100. */
  limit: number;
  status?: PetStatus;
  /** Only pets with a smaller id than this one. */
  cursor?: number;
}

export interface Page {
  /** A JSON array of Pet, newest first. */
  text: string;
  /** The cursor of the page after this one; absent on the last. */
  next?: number;
  /** SHA-256 (hex) of the text and the cursor. */
  hash: string;
}

const lengthOf = ({ text }: { text: string }) => text.length;

/** The pets and pages that were read at one generation and `changePosition`. They are valid until a pet changes. */
function newCaches({ generation, changePosition }: Pick<Head, "generation" | "changePosition">) {
  const pets = new BoundedCache<PetRecord>(PETS_LIMIT, TEXT_LIMIT, lengthOf);
  const pages = new BoundedCache<Page>(PAGES_LIMIT, TEXT_LIMIT, lengthOf);
  return { generation, changePosition, pets, pages, reading: new Map<string, Promise<Page>>() };
}

/** Reads pets and pages of pets as of a head, or as of a later moment. Any change of a pet begins new caches. */
export class PetReader {
  #store: Store;
  #readNewestHead: () => Promise<HeadEntry>;
  #caches = newCaches({ generation: 0, changePosition: 0 });

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

  /** A page of pets, all as of one moment. Rejects with `projection_damaged`, and if they are changed during each attempt. */
  list(query: PageQuery, { head }: HeadEntry): Page | Promise<Page> {
    const { limit, status, cursor = Infinity } = query;
    const { pages, reading } = this.#cachesFor(head);
    // An addition outdates only the pages that begin with the newest pets.
    const name = `${head.generation}/${status}/${limit}/${cursor}/${newestOf(query, head)}`;
    // Node 24 has no Map.getOrInsertComputed().
    const known = pages.get(name) ?? reading.get(name);
    if (known !== undefined) return known;
    const read = status === undefined ? this.#readPage(query, head) : this.#readList(query, head);
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

  async #readPet(id: number, head: Head): Promise<PetRecord> {
    const { pets, generation } = this.#cachesFor(head);
    const keys = PET_LISTS.map((list) => petKeyOf(head, list, id));
    // All are read at one moment, so one of the lists has the pet.
    const found = (await this.#store.getMany(keys)).filter((entry) => entry !== null);
    if (found.length !== 1) throw damagedError(keys[0], "is missing, or is there twice");
    const pet = petOf(found[0]);
    // A record of an earlier generation may be outdated.
    return generation === head.generation ? pets.set(id, pet) : pet;
  }

  /** Reads a page of one list. The store reads it at one moment, which may be later than the head. */
  async #readList(query: PageQuery, head: Head): Promise<Page> {
    const { limit, status, cursor } = query;
    const list = petListOf(status);
    const end = petKeyOf(head, list, cursor ?? Number.MAX_SAFE_INTEGER);
    const range = { start: petKeyOf(head, list, 1), end };
    const entries = await this.#store.list(range, { limit: limit + 1, reverse: true });
    // On a page that seems to be the last, others may be missing: a replay removes a generation from its first pets on.
    if (entries.length <= limit) {
      const { head: now } = await this.#readNewestHead();
      if (now.generation !== head.generation) return await this.#readList(query, now);
    }
    return pageOf(entries.map(petOf), limit);
  }

  /**
   * Reads a page of all pets from their lists. These are not read at one moment, so a pet that changes may be in two of
   * them, or in none. The page is as of a head if it has each id once, and no pet of it was changed after that head.
   */
  async #readPage(query: PageQuery, head: Head): Promise<Page> {
    const { limit } = query;
    for (let attempt = 1; attempt <= READ_ATTEMPTS; attempt++) {
      const newest = newestOf(query, head);
      // Ids have no gaps.
      const oldest = Math.max(1, newest - limit);
      const found = await Promise.all(PET_LISTS.map((list) => {
        const start = petKeyOf(head, list, oldest);
        const range = { start, end: petKeyOf(head, list, newest + 1) };
        return this.#store.list(range, { limit: limit + 1, reverse: true });
      }));
      const pets = found.flat().map(petOf).sort((one, other) => other.id - one.id);
      const ids = Array.from({ length: newest - oldest + 1 }, (_, index) => newest - index);
      const wrong = ids.findIndex((id, index) =>
        pets[index]?.id !== id || pets[index].position > head.position
      );
      if (wrong === -1 && pets.length === ids.length) return pageOf(pets, limit);
      const { head: now } = await this.#readNewestHead();
      if (now.generation === head.generation && now.changePosition <= head.position) {
        // Without a wrong one, the last is there twice.
        throw damagedError(petKeyOf(head, "", ids.at(wrong)!), "is missing, or is there twice");
      }
      head = now;
    }
    const message = `The animals of the page were changed during each of ${READ_ATTEMPTS} reads`;
    throw new ServiceError("store_unavailable", message);
  }
}

/** The id of the newest pet that a page may have at a head. */
function newestOf({ cursor = Infinity }: PageQuery, { lastPetId }: Head): number {
  return Math.min(cursor - 1, lastPetId);
}

function pageOf(pets: PetRecord[], limit: number): Page {
  const shown = pets.slice(0, limit);
  const text = `[${shown.map(({ text }) => text).join(",")}]`;
  const next = pets.length > limit ? shown.at(-1)!.id : undefined;
  return { text, next, hash: sha256Hex(`${next ?? ""}${text}`) };
}

function petKeyOf({ generation }: Head, list: string, id: number) {
  return projectionKey(generation, petKey(list, id));
}
