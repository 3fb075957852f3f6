import type { Head } from "eventstore-less/definitions.ts";
import { isPetEvent, type PetEvent } from "./pet_event.ts";
import type { Committed } from "eventstore-less/append/appender.ts";
import { assertNever } from "../encoding/assert_never.ts";
import { changePositionOf, lastPetIdOf } from "./pet_counts.ts";
import {
  expectRemoval,
  petKeyOf,
  type PetRecord,
  readPet,
  readRemovals,
  readUnremovedPet,
} from "./pet_records.ts";
import { encodePet } from "../../events/pet.ts";
import { petAfter } from "../../events/pet_event.ts";
import type { HeadEntry } from "eventstore-less/log/head.ts";
import type { Store } from "eventstore-less/store/store.ts";
import { BoundedCache } from "../runtime/bounded_cache.ts";
import { LARGE_PAGE_LENGTH, newestOf, type Page, type PageQuery } from "./page.ts";
import { NameSearch, type NameSearchDeps } from "./name_search.ts";
import { PageReader } from "./page_reader.ts";
import { damagedError, readProof } from "eventstore-less/projections/project.ts";

/** Maximum numbers of cached pages and pets, and the maximum text of each of both, in UTF-16 code units. */
const PAGES_LIMIT = 20_000;
const PETS_LIMIT = 50_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

/** The size of a code unit of a large page in the cache: up to two bytes of text, and as much in gzip. */
const LARGE_PAGE_UNIT = 4;

const lengthOf = ({ text }: PetRecord) => text.length;

function pageSize({ text: { length } }: Page): number {
  return length < LARGE_PAGE_LENGTH ? length : LARGE_PAGE_UNIT * length;
}

/** The pets and pages that were read at one generation and `changePosition`. They are valid until a pet changes. */
function newCaches(generation: number, changePosition: number) {
  const pets = new BoundedCache<PetRecord>(PETS_LIMIT, TEXT_LIMIT, lengthOf);
  const pages = new BoundedCache<Page>(PAGES_LIMIT, TEXT_LIMIT, pageSize);
  const reading = new Map<string, Promise<Page>>();
  return { generation, changePosition, pets, pages, reading };
}

type Caches = ReturnType<typeof newCaches>;

export interface PetReaderDeps extends NameSearchDeps {
  /** Resolves when a page of so many pets may be read, or returns `undefined`. */
  beforeRead: (limit: number) => Promise<void> | undefined;
}

/** A pet that the line of its last event has proven. */
export type ProvenPet = PetRecord & Required<Pick<PetRecord, "proven">>;

/** Reads pets and pages of pets as of a head, or as of a later moment. Any change of a pet begins new caches. */
export class PetReader {
  #store: Store;
  #deps: PetReaderDeps;
  #pages: PageReader;
  #names: NameSearch;
  #caches = newCaches(0, 0);

  constructor(deps: PetReaderDeps) {
    const findPet = (id: number, head: Head) =>
      this.#cachesFor(head).pets.get(id) ?? this.#findPet(id, head);
    this.#deps = deps;
    this.#store = deps.store;
    this.#pages = new PageReader({ ...deps, findPet });
    this.#names = new NameSearch(deps);
  }

  /** Returns the pet with an id, or `undefined` if that pet does not exist. Rejects with `projection_damaged`. */
  get(id: number, { head }: { head: Head }) {
    if (id < 1 || id > lastPetIdOf(head)) return undefined;
    return this.#cachesFor(head).pets.get(id) ?? this.#readPet(id, head);
  }

  /**
   * Returns the pet as get() does, for a change: proven by the line at the position that its record names. No record may
   * say that the pet was removed. A proven pet stays proven until another instance changes a pet.
   */
  async getProven(id: number, { head }: { head: Head }): Promise<ProvenPet | undefined> {
    if (id < 1 || id > lastPetIdOf(head)) return undefined;
    const caches = this.#cachesFor(head);
    const known = caches.pets.get(id);
    if (known?.proven !== undefined) return known as ProvenPet;
    const pet = await readUnremovedPet(this.#store, head, id) ?? await this.#readPet(id, head);
    if (pet === undefined) return undefined;
    const { event } = await readProof(this.#store, pet.position);
    const proven = isPetEvent(event) ? petAfter(event) : undefined;
    if (proven === undefined || encodePet(proven) !== pet.text) {
      throw damagedError(petKeyOf(head, "", id), "does not follow from its event");
    }
    const provenPet: ProvenPet = { ...pet, proven };
    if (this.#areCurrent(caches, head)) caches.pets.replace(id, provenPet);
    return provenPet;
  }

  /**
   * Continues the caches of single pets after a commit of this instance, whose events prove the pets. A commit of
   * another instance with a change begins new caches.
   */
  follow({ base, next, lines }: Committed): void {
    const { generation, changePosition, pets } = this.#caches;
    const isNext = generation === next.generation && changePosition === changePositionOf(base.head);
    if (!isNext || changePosition === changePositionOf(next)) return;
    for (const { event } of lines) {
      if (isPetEvent(event)) noteEvent(event, pets);
    }
    // Reads under way have the former caches, so they cannot add what was true before the commit.
    this.#caches = { ...newCaches(generation, changePositionOf(next)), pets };
  }

  /** Whether what was read with these caches and as of that head may be added to them. */
  #areCurrent(caches: Caches, { generation }: Head): boolean {
    // A record of an earlier generation may be outdated.
    return caches === this.#caches && caches.generation === generation;
  }

  /** A page of pets, all as of one moment. Rejects with `projection_damaged`, and if they are changed during each attempt. */
  list(query: PageQuery, { head }: HeadEntry): Page | Promise<Page> {
    const { pages, reading } = this.#cachesFor(head);
    // An addition outdates only the pages that begin with the newest pets.
    const { limit, status, categoryId, cursor, ids, name: petName } = query;
    const name = `${head.generation}/${status}/${categoryId}/${limit}/${cursor}/${ids}/` +
      `${newestOf(query, head)}/${petName ?? ""}`;
    // Node 24 has no Map.getOrInsertComputed().
    const known = pages.get(name) ?? reading.get(name);
    if (known !== undefined) return known;
    const page = this.#readPage(query, head)
      .then((it) => pages.set(name, it))
      .finally(() => reading.delete(name));
    reading.set(name, page);
    return page;
  }

  async #readPage({ name, ...query }: PageQuery, head: Head): Promise<Page> {
    if (name !== undefined) return await this.#names.read({ ...query, name }, head);
    const turn = this.#deps.beforeRead(query.limit);
    if (turn !== undefined) await turn;
    return await this.#pages.read(query, head);
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
    const [position] = await readRemovals(this.#store, head, [id]);
    if (position !== undefined && position <= changePositionOf(head)) return undefined;
    const { head: now } = await this.#deps.readNewestHead();
    // A replay removes the records of an earlier generation.
    if (now.generation !== head.generation) return await this.#readPet(id, now);
    expectRemoval(id, position, now);
    return undefined;
  }

  /** Resolves to `undefined` if the pet is in none of the lists. */
  async #findPet(id: number, head: Head): Promise<PetRecord | undefined> {
    const caches = this.#cachesFor(head);
    const pet = await readPet(this.#store, head, id);
    if (pet !== undefined && this.#areCurrent(caches, head)) caches.pets.set(id, pet);
    return pet;
  }
}

/** Replaces what is cached of a pet by its last event. An addition does not need a place in the caches. */
function noteEvent(event: PetEvent, pets: Caches["pets"]): void {
  const { type, data: { id }, position } = event;
  switch (type) {
    case "PetCreated":
      return;
    case "PetUpdated": {
      const proven = petAfter(event)!;
      pets.replace(id, { id, text: encodePet(proven), position, proven });
      return;
    }
    case "PetRemoved":
      pets.delete(id);
      return;
    default:
      assertNever(type);
  }
}
