import type { Head } from "eventstore-less";
import {
  BoundedCache,
  type Committed,
  contentOf,
  type HeadEntry,
  readProof,
} from "eventstore-less/parts";
import type { StoreDamagedError } from "eventstore-less/store";
import type { EventBody } from "../../events/all_events.ts";
import { APPLICATION } from "../application.ts";
import { isPetEvent, type PetEvent } from "./pet_event.ts";
import { changePositionOf, lastPetIdOf, petCountsOf } from "./pet_counts.ts";
import { positionIn } from "./pet_content.ts";
import { damagedPetError, keysOfPet, onlyPetOf, type PetRecord } from "./pet_records.ts";
import { type PetState, stateAfter } from "./pet_state.ts";
import { readRemovedPets, type RemovedPetsDeps } from "./removed_pets.ts";
import { encodePet } from "../../events/pet.ts";
import { petAfter } from "../../events/pet_event.ts";
import {
  idsOf,
  inOrder,
  isSearch,
  type Page,
  type PageCondition,
  pageOf,
  pageOfText,
  type PageQuery,
  type PetsOfHead,
  type SummaryQuery,
} from "./page.ts";
import { PageReader } from "./page_reader.ts";
import { type CategoryNames, PetSearch, type PetSearchDeps } from "./pet_search.ts";
import { summaryText } from "./pet_summary.ts";
import type { PetIndexReader } from "./pet_index_reader.ts";

/** Maximum numbers of cached pages and pets, and the maximum text of each of both, in UTF-16 code units. */
const PAGES_LIMIT = 20_000;
const PETS_LIMIT = 50_000;
const TEXT_LIMIT = 32 * 1024 * 1024;

const lengthOf = ({ text }: { text: string }) => text.length;

/** The pets and pages that were read at one generation and `changePosition`. They are valid until a pet changes. */
function newCaches(generation: number, changePosition: number) {
  const pets = new BoundedCache<PetRecord>(PETS_LIMIT, TEXT_LIMIT, lengthOf);
  const pages = new BoundedCache<Page>(PAGES_LIMIT, TEXT_LIMIT, lengthOf);
  const reading = new Map<string, Promise<Page>>();
  return { generation, changePosition, pets, pages, reading };
}

type Caches = ReturnType<typeof newCaches>;

export interface PetReaderDeps extends PetSearchDeps, RemovedPetsDeps {
  index: Pick<PetIndexReader, "asOf" | "isFilled">;
  /** The known damage of the store's file. */
  storeDamage: () => StoreDamagedError | undefined;
}

/** A pet that the line of its last event has proven. */
type ProvenPet = PetRecord & Required<Pick<PetRecord, "proven">>;

/** Some pets by their ids, as of a head; `undefined` for one that does not exist. */
interface PetsById {
  pets: (PetRecord | undefined)[];
  head: Head;
}

/** Reads pets and pages of pets as of a head, or as of a later one. Any change of a pet begins new caches. */
export class PetReader {
  #deps: PetReaderDeps;
  #pages: PageReader;
  #search: PetSearch;
  #caches = newCaches(0, 0);

  constructor(deps: PetReaderDeps) {
    this.#deps = deps;
    this.#pages = new PageReader(deps);
    this.#search = new PetSearch(deps);
  }

  /** Returns the pet with an id, or `undefined` if that pet does not exist. Rejects with `projection_damaged`. */
  get(id: number, { head }: { head: Head }) {
    if (id < 1 || id > lastPetIdOf(head)) return undefined;
    return this.#cachesFor(head).pets.get(id) ?? this.#readPet(id, head);
  }

  /**
   * Returns the state of a pet, also of a removed one, for a decision: proven by the line at the position that its record
   * names. `undefined` if no pet ever had the id. Rejects with `projection_damaged`.
   */
  async getState(id: number, { head }: { head: Head }): Promise<PetState | undefined> {
    const pet = await this.get(id, { head });
    if (pet === undefined) return await this.#readRemoved(id, head);
    const { proven, position } = await this.#prove(pet, head);
    return { pet: proven, position, isRemoved: false };
  }

  /** Reads the removal of a pet that a head or a later one did not have. */
  async #readRemoved(id: number, head: Head): Promise<PetState | undefined> {
    if (id < 1 || id > lastPetIdOf(head)) return undefined;
    const read = await this.#deps.heads.readWith(keysOfPet(id));
    // The pet was restored meanwhile.
    if (onlyPetOf(id, read.entries, read.head) !== undefined) return await this.getState(id, read);
    const position = positionIn(contentOf(APPLICATION, read.entries.at(-1)!));
    const { event } = await readProof(APPLICATION, this.#deps.store, position);
    if (event.type === "PetRemoved" && event.data.id === id) return stateAfter(event);
    throw damagedPetError(id, read.head, "has a removal that does not follow from its event");
  }

  /** A proven pet stays proven until another instance changes a pet. */
  async #prove(pet: PetRecord, head: Head): Promise<ProvenPet> {
    if (pet.proven !== undefined) return pet as ProvenPet;
    const { event } = await readProof(APPLICATION, this.#deps.store, pet.position);
    const proven = isPetEvent(event) ? petAfter(event) : undefined;
    if (proven === undefined || encodePet(proven) !== pet.text) {
      throw damagedPetError(pet.id, head, "does not follow from its event");
    }
    pet.proven = proven;
    return pet as ProvenPet;
  }

  /**
   * Continues the caches of single pets after a commit of this instance, whose events prove the pets. A commit of
   * another instance with a change begins new caches.
   */
  follow({ base, next, lines }: Committed<EventBody>): void {
    const { generation, changePosition, pets } = this.#caches;
    const isNext = generation === next.generation && changePosition === changePositionOf(base.head);
    if (!isNext || changePosition === changePositionOf(next)) return;
    for (const { event } of lines) {
      if (isPetEvent(event)) noteEvent(event, pets);
    }
    // Reads under way keep the former caches, so they cannot add an older state to the new ones.
    this.#caches = { ...newCaches(generation, changePositionOf(next)), pets };
  }

  /** Whether a page takes long: it reads many records or lines, or waits for the index. */
  isSlow(query: PageCondition): boolean {
    const waitsForIndex = query.categoryId !== undefined && !this.#deps.index.isFilled;
    return isSearch(query) || query.removed === true || waitsForIndex;
  }

  /**
   * A page of pets, all as of one head. A search counts as one of the API key. Rejects as {@linkcode PageReader.read}
   * does, and throws as {@linkcode PetSearch.expectPlace} does, or `StoreDamagedError` if the store's file is known to
   * be damaged, because that can hide records.
   */
  list(query: PageQuery, { head }: HeadEntry, apiKeyId?: string): Page | Promise<Page> {
    const name = pageName(query, head, this.#deps.categoryNames);
    return this.#cachedPage({ name, query, head, apiKeyId }, async () => {
      const read = await this.#readPetsOf(query, head, apiKeyId);
      return pageOf(read.pets, query, read.head, read.next);
    });
  }

  /** A page with the summary of all pets that a query finds, as of one head or later. Throws and rejects as list() does. */
  summarize(query: SummaryQuery, { head }: HeadEntry, apiKeyId?: string): Page | Promise<Page> {
    const name = `summary/${pageName(query, head, this.#deps.categoryNames)}`;
    return this.#cachedPage({ name, query, head, apiKeyId }, async () => {
      if (isSearch(query)) {
        const read = await this.#search.summarize(query, head, apiKeyId);
        return pageOfText(read.summary.text, read.head, read.next);
      }
      const { categoryId } = query;
      if (categoryId === undefined) return pageOfText(summaryText(petCountsOf(head)), head);
      const index = await this.#deps.index.asOf(head);
      return pageOfText(summaryText(index.countsOf(categoryId)), head);
    });
  }

  /** The page of a name, from the caches or read once for all that ask for it. */
  #cachedPage(
    { name, query, head, apiKeyId }: {
      name: string;
      query: PageCondition;
      head: Head;
      apiKeyId: string | undefined;
    },
    read: () => Promise<Page>,
  ): Page | Promise<Page> {
    const damage = this.#deps.storeDamage();
    if (damage !== undefined) throw damage;
    const { pages, reading } = this.#cachesFor(head);
    // Node 24 has no Map.getOrInsertComputed().
    const known = pages.get(name) ?? reading.get(name);
    if (known !== undefined) return known;
    // Thrown before others can share this read: the refusal of one API key must not reach them.
    if (isSearch(query)) this.#search.expectPlace(apiKeyId);
    const page = read()
      .then((it) => pages.set(name, it))
      .finally(() => reading.delete(name));
    reading.set(name, page);
    return page;
  }

  async #readPetsOf(
    query: PageQuery,
    head: Head,
    apiKeyId: string | undefined,
  ): Promise<PetsOfHead> {
    const { ids, removed } = query;
    if (removed) return await readRemovedPets(this.#deps, query, head);
    if (isSearch(query)) return await this.#search.read(query, head, apiKeyId);
    if (ids !== undefined) {
      const read = await this.#readIds(ids, head);
      const pets = read.pets.filter((pet) => pet !== undefined);
      return { pets: inOrder(pets, query), head: read.head };
    }
    return await this.#pages.read(query, head);
  }

  /** Returns the caches, after it has replaced those of an older head. A request may see a later state than its head. */
  #cachesFor(head: Head): Caches {
    const { generation, changePosition } = this.#caches;
    const isOlder = generation < head.generation ||
      generation === head.generation && changePosition < changePositionOf(head);
    if (isOlder) this.#caches = newCaches(head.generation, changePositionOf(head));
    return this.#caches;
  }

  async #readPet(id: number, head: Head): Promise<PetRecord | undefined> {
    const { pets: [pet] } = await this.#readIds([id], head);
    return pet;
  }

  /** Takes pets from the caches, and reads the others. All are as of the given head, or all as of a later one. */
  async #readIds(ids: readonly number[], head: Head): Promise<PetsById> {
    const caches = this.#cachesFor(head);
    // The caches may already be those of a later head.
    if (!isCurrent(caches, head)) return await this.#readUncached(ids, caches);
    // An addition does not begin new caches, so they may have pets that are not there yet at this head.
    const last = lastPetIdOf(head);
    const cached = ids.map((id) => id > last ? undefined : caches.pets.get(id));
    const missing = ids.filter((_, index) => cached[index] === undefined);
    if (missing.length === 0) return { pets: cached, head };
    const read = await this.#readUncached(missing, caches);
    if (missing.length === ids.length) return read;
    if (!isCurrent(caches, read.head)) return await this.#readUncached(ids, caches);
    const pets = read.pets.values();
    return { pets: cached.map((pet) => pet ?? pets.next().value), head: read.head };
  }

  async #readUncached(ids: readonly number[], caches: Caches): Promise<PetsById> {
    const keys = ids.map(keysOfPet);
    const { head, entries } = await this.#deps.heads.readWith(keys.flat());
    const pets = ids.map((id, index) => {
      if (id < 1 || id > lastPetIdOf(head)) return undefined;
      const { length } = keys[index];
      return onlyPetOf(id, entries.slice(length * index, length * (index + 1)), head);
    });
    const mayBeCached = caches === this.#caches && isCurrent(caches, head);
    for (const pet of pets) {
      if (mayBeCached && pet !== undefined) caches.pets.set(pet.id, pet);
    }
    return { pets, head };
  }
}

/**
 * The name of a page in the caches. An addition outdates only the pages that the newest pets are on, and the name of a
 * category those of searches by `q`.
 */
function pageName(query: PageCondition, head: Head, categoryNames: CategoryNames): string {
  const { limit, status, categoryId, order, cursor, ids, name, q, removed } = query;
  const { newest } = idsOf(query, lastPetIdOf(head));
  const search = q === undefined ? `name/${name ?? ""}` : `${categoryNames.changedAt(head)}/${q}`;
  return `${status}/${categoryId}/${limit}/${order}/${cursor}/${ids}/${removed}/${newest}/${search}`;
}

/** Whether the caches hold the state as of a head. */
function isCurrent({ generation, changePosition }: Caches, head: Head): boolean {
  return generation === head.generation && changePosition === changePositionOf(head);
}

/** Replaces the cached state of a pet by its last event. An addition does not need a place in the caches. */
function noteEvent(event: PetEvent, pets: Caches["pets"]): void {
  const { type, data: { id }, position } = event;
  if (type === "PetCreated") return;
  const proven = petAfter(event);
  if (proven === undefined) pets.delete(id);
  else pets.replace(id, { id, text: encodePet(proven), position, proven });
}
