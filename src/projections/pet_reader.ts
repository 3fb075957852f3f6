import { hasStatus, petIdOf, type PetStatus } from "../../events/pet.ts";
import { unpackLines } from "../encoding/pack_lines.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { ServiceError } from "../service_error.ts";
import type { Head } from "../log/head.ts";
import { petByIdempotencyKeyKey, petByStatusKey, petKey, projectionKey } from "../keyspace.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "../telemetry/instrumentation.ts";
import { PetCache } from "./pet_cache.ts";

/** Maximum number of cached pages. */
const PAGES_CACHE_LIMIT = 1_000;

/** Maximum total text of cached pages, in UTF-16 code units. A thousand long pages would take 600 MB. */
const PAGES_TEXT_LIMIT = 32 * 1024 * 1024;

/** How many of the newest pets of a status are cached: the longest page, and one more. */
const NEWEST_LIMIT = 101;

/** Maximum number of added pets to check when the newest pets of a status are brought up to date. */
const CATCH_UP_LIMIT = 500;

/** Upper bound of an open range of ids. */
const LAST_ID = Number.MAX_SAFE_INTEGER;

const decoder = new TextDecoder();

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
  /** SHA-256 (hex) of the text and the cursor, computed once for as long as the page is cached. */
  hash: string;
}

interface CachedPage {
  page: Page;
  generation: number;
  /** Id of the newest pet when the page was read. A page below a cursor never changes. */
  lastPetId: number;
}

interface PetText {
  id: number;
  text: string;
}

/** The newest pets of a status, newest first, when `lastPetId` was the newest pet of any status. */
interface Newest {
  pets: PetText[];
  lastPetId: number;
}

/**
 * Reads pets and pages of pets as of a head. Both depend only on the head, because pets are only added and
 * never change. So both are cached.
 */
export class PetReader {
  #store: Store;
  #instrumentation: Instrumentation;
  #generation = 0;
  #pets: PetCache;
  #newest = new Map<PetStatus, Newest>();
  #pages = new Map<string, CachedPage>();
  #pagesLength = 0;

  /** Others may add pets of the generation being served to the cache. */
  constructor(store: Store, instrumentation = NO_INSTRUMENTATION, pets = new PetCache()) {
    this.#store = store;
    this.#pets = pets;
    this.#instrumentation = instrumentation;
  }

  /** The JSON text of the pet with an id, or `undefined` if there is no such pet. */
  get(id: number, head: Head): string | undefined | Promise<string> {
    if (id < 1 || id > head.lastPetId) return undefined;
    this.#follow(head);
    const text = this.#pets.get(id);
    this.#instrumentation.onCacheRead("pets", text === undefined ? "miss" : "hit");
    return text ?? this.#readTexts(id, id, head).then(([text]) => text);
  }

  /** A page of pets. */
  list(query: PageQuery, head: Head): Page | Promise<Page> {
    this.#follow(head);
    const name = `${query.status ?? ""}/${query.limit}/${query.cursor ?? ""}`;
    const cached = this.#pages.get(name);
    const holds = cached !== undefined && cached.generation === head.generation &&
      (query.cursor !== undefined && query.cursor <= cached.lastPetId + 1 ||
        cached.lastPetId === head.lastPetId);
    if (!holds) return this.#readPage(name, query, head);
    this.#instrumentation.onCacheRead("pages", "hit");
    return cached.page;
  }

  /**
   * The id of the pet that the actor added with an Idempotency-Key, if the key has not expired at `now`.
   * `idempotencyKey` is its SHA-256 in hex. May or may not find a pet added after that head.
   */
  async findByIdempotencyKey(
    actor: string,
    idempotencyKey: string,
    { generation }: Head,
    now: number,
  ): Promise<number | undefined> {
    const prefix = projectionKey(generation, petByIdempotencyKeyKey(actor, idempotencyKey));
    const [newest] = await this.#store.list({ prefix }, { limit: 1, reverse: true });
    if (newest === undefined) return undefined;
    const { petId, expiresAt } = JSON.parse(newest.value as string);
    // The store keeps the record for some time after it expires.
    return Date.parse(expiresAt) > now ? petId : undefined;
  }

  /** Clears the caches if the generation has changed: a replay may have corrected its records. */
  #follow({ generation }: Head): void {
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#pets.clear();
    this.#newest.clear();
    this.#pages.clear();
    this.#pagesLength = 0;
  }

  async #readPage(name: string, query: PageQuery, head: Head): Promise<Page> {
    const page = query.status === undefined
      ? await this.#readNewest(query, head)
      : await this.#readNewestOf(query.status, query, head);
    this.#dropPage(name);
    const { generation, lastPetId } = head;
    this.#pages.set(name, { page, generation, lastPetId });
    this.#pagesLength += page.text.length;
    while (this.#pages.size > PAGES_CACHE_LIMIT || this.#pagesLength > PAGES_TEXT_LIMIT) {
      this.#dropPage(this.#pages.keys().next().value!);
    }
    return page;
  }

  #dropPage(name: string): void {
    this.#pagesLength -= this.#pages.get(name)?.page.text.length ?? 0;
    this.#pages.delete(name);
  }

  /** Ids have no gaps, so the ids of the page are known before anything is read. */
  async #readNewest({ limit, cursor }: PageQuery, head: Head): Promise<Page> {
    const newest = Math.min(head.lastPetId, (cursor ?? Infinity) - 1);
    const oldest = Math.max(1, newest - limit + 1);
    const texts = await this.#texts(oldest, newest, head);
    return pageOf(texts.reverse(), oldest > 1 ? oldest : undefined);
  }

  async #readNewestOf(
    status: PetStatus,
    { limit, cursor }: PageQuery,
    head: Head,
  ): Promise<Page> {
    const pets = cursor === undefined
      ? await this.#newestOf(status, head)
      : await this.#readIndex(status, Math.min(head.lastPetId + 1, cursor), limit + 1, head);
    const shown = pets.slice(0, limit);
    // One pet more than the limit means that there is a next page.
    const next = pets.length > limit ? shown.at(-1)!.id : undefined;
    return pageOf(shown.map(({ text }) => text), next);
  }

  /** The newest pets of a status. If few pets were added since the last call, checks only those. */
  async #newestOf(status: PetStatus, head: Head): Promise<PetText[]> {
    const { lastPetId, generation } = head;
    const known = this.#newest.get(status);
    const added = known === undefined ? -1 : lastPetId - known.lastPetId;
    let pets: PetText[];
    if (known !== undefined && added >= 0 && added <= CATCH_UP_LIMIT) {
      const first = known.lastPetId + 1;
      const texts = await this.#texts(first, lastPetId, head);
      const later = texts.map((text, index) => ({ id: first + index, text }))
        .filter(({ text }) => hasStatus(text, status));
      pets = [...later.reverse(), ...known.pets].slice(0, NEWEST_LIMIT);
    } else {
      pets = await this.#readIndex(status, lastPetId + 1, NEWEST_LIMIT, head);
    }
    const isNewest = lastPetId >= (this.#newest.get(status)?.lastPetId ?? 0);
    if (isNewest && generation === this.#generation) this.#newest.set(status, { pets, lastPetId });
    return pets;
  }

  /** Reads the pets of a status with ids below `before`, newest first, from at most two reads of the store. */
  async #readIndex(
    status: PetStatus,
    before: number,
    limit: number,
    { generation, lastPetId }: Head,
  ): Promise<PetText[]> {
    this.#instrumentation.onCacheRead("pages", "miss");
    const keyOf = (id: number) => projectionKey(generation, petByStatusKey(status, id));
    // The newest of these pets may be in a record that also holds pets from `before` on.
    const [newest] = before <= lastPetId
      ? await this.#store.list({ start: keyOf(before), end: keyOf(LAST_ID) }, { limit: 1 })
      : await this.#store.list({ start: keyOf(0), end: keyOf(before) }, {
        limit: 1,
        reverse: true,
      });
    const pets = newest === undefined ? [] : indexTextsOf(newest, status, before, limit);
    if (pets.length === limit) return pets;
    const end = keyOf(Math.min(before, newest?.key.at(-1) as number | undefined ?? Infinity));
    // Each record holds at least one pet.
    const others = await this.#store.list(
      { start: keyOf(0), end },
      { limit: limit - pets.length, reverse: true },
    );
    for (const entry of others) {
      if (pets.length === limit) break;
      const lastId = entry.key.at(-1) as number;
      if (pets.length > 0 && lastId >= pets.at(-1)!.id) throw damaged(lastId);
      pets.push(...indexTextsOf(entry, status, before, limit - pets.length));
    }
    return pets;
  }

  /** The texts of all pets from `oldest` to `newest`, both included. */
  #texts(oldest: number, newest: number, head: Head): string[] | Promise<string[]> {
    const texts: string[] = [];
    for (let id = oldest; id <= newest; id++) {
      const text = this.#pets.get(id);
      if (text === undefined) {
        this.#instrumentation.onCacheRead("pages", "miss");
        return this.#readTexts(oldest, newest, head);
      }
      texts.push(text);
    }
    this.#instrumentation.onCacheRead("pages", "hit");
    return texts;
  }

  /** Reads the records that hold these pets, and caches all pets in them: neighbours are often read next. */
  async #readTexts(oldest: number, newest: number, head: Head): Promise<string[]> {
    const { generation } = head;
    const keyOf = (id: number) => projectionKey(generation, petKey(id));
    // The record of the newest pet may end at a later one.
    const [ofOthers, ofNewest] = await Promise.all([
      oldest === newest ? [] : this.#store.list(
        { start: keyOf(oldest), end: keyOf(newest) },
        { limit: newest - oldest },
      ),
      this.#store.list({ start: keyOf(newest), end: keyOf(LAST_ID) }, { limit: 1 }),
    ]);
    const entries = [...ofOthers, ...ofNewest];
    const texts: string[] = [];
    for (const entry of entries) {
      for (const { id, line } of unpackPets(entry)) {
        if (id < oldest || id > newest) continue;
        if (texts[id - oldest] !== undefined) throw damaged(id);
        texts[id - oldest] = decoder.decode(line);
      }
    }
    for (let id = oldest; id <= newest; id++) {
      if (texts[id - oldest] === undefined) throw damaged(id);
    }
    for (const { key, value } of generation === this.#generation ? entries : []) {
      this.#pets.put(key.at(-1) as number, value as Uint8Array);
    }
    return texts;
  }
}

/** The last pets of a record by status with ids below `before`, newest first. */
function indexTextsOf(
  entry: StoreEntry,
  status: PetStatus,
  before: number,
  limit: number,
): PetText[] {
  const pets: PetText[] = [];
  for (const { id, line } of unpackPets(entry).reverse()) {
    if (pets.length === limit) break;
    const text = decoder.decode(line);
    if (!hasStatus(text, status)) throw damaged(id);
    if (id < before) pets.push({ id, text });
  }
  return pets;
}

/** The pets of a record. Throws `projection_damaged` unless their ids ascend to that of the record's key. */
function unpackPets({ key, value }: StoreEntry): { id: number; line: Uint8Array }[] {
  const pets = unpackLines(value)?.map((line) => ({ id: petIdOf(line), line }));
  const lastId = key.at(-1) as number;
  const isAscending = pets?.every(({ id }, index) => index === 0 || id > pets[index - 1].id);
  if (!isAscending || pets?.at(-1)?.id !== lastId) throw damaged(lastId);
  return pets;
}

function pageOf(pets: string[], next?: number): Page {
  const text = `[${pets.join(",")}]`;
  return { text, next, hash: sha256Hex(`${next ?? ""}${text}`) };
}

function damaged(id: number): ServiceError {
  return new ServiceError(
    "projection_damaged",
    `The projection of pet ${id} does not match the log`,
  );
}
