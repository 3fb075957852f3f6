import { hasStatus, petIdOf, type PetStatus } from "../../events/pet.ts";
import { unpackLines } from "../encoding/pack_lines.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { ServiceError } from "../service_error.ts";
import type { Head } from "../log/head.ts";
import { petByIdempotencyKeyKey, petByStatusKey, petKey, projectionKey } from "../keyspace.ts";
import type { Key, Store, StoreEntry } from "../store/store.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "../telemetry/instrumentation.ts";
import { PetCache } from "./pet_cache.ts";
import { decodeRecord } from "./project.ts";

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

interface PetText {
  id: number;
  text: string;
}

/** A value that was read while `lastPetId` was the newest pet. A page below a cursor never changes. */
interface Cached<T> {
  value: T;
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
  /** The newest pets of each status, newest first. */
  #newest = new Map<PetStatus, Cached<PetText[]>>();
  #pages = new Map<string, Cached<Page>>();
  #pagesLength = 0;

  /** Others may add pets of the generation being served to the cache. */
  constructor(store: Store, instrumentation = NO_INSTRUMENTATION, pets = new PetCache()) {
    this.#store = store;
    this.#pets = pets;
    this.#instrumentation = instrumentation;
  }

  /** The JSON text of the pet with an id, or `undefined` if there is no such pet. */
  async get(id: number, head: Head): Promise<string | undefined> {
    if (id < 1 || id > head.lastPetId) return undefined;
    this.#follow(head);
    const text = this.#pets.get(id);
    const result = text === undefined ? "miss" : "hit";
    this.#instrumentation.count("cache.reads", { cache: "pets", result });
    return text ?? (await this.#readAll(id, id, head))[0].text;
  }

  /** A page of pets. */
  async list(query: PageQuery, head: Head): Promise<Page> {
    this.#follow(head);
    const name = `${query.status ?? ""}/${query.limit}/${query.cursor ?? ""}`;
    const cached = this.#pages.get(name);
    const holds = cached !== undefined &&
      (query.cursor !== undefined && query.cursor <= cached.lastPetId + 1 ||
        cached.lastPetId === head.lastPetId);
    if (holds) {
      this.#instrumentation.count("cache.reads", { cache: "pages", result: "hit" });
      return cached.value;
    }
    const pets = await this.#petsOf(query, head);
    const shown = pets.slice(0, query.limit);
    const text = `[${shown.map(({ text }) => text).join(",")}]`;
    // One pet more than the limit means that there is a next page.
    const next = pets.length > query.limit ? shown.at(-1)!.id : undefined;
    const page: Page = { text, next, hash: sha256Hex(`${next ?? ""}${text}`) };
    if (head.generation !== this.#generation) return page;
    this.#dropPage(name);
    this.#pages.set(name, { value: page, lastPetId: head.lastPetId });
    this.#pagesLength += text.length;
    while (this.#pages.size > PAGES_CACHE_LIMIT || this.#pagesLength > PAGES_TEXT_LIMIT) {
      this.#dropPage(this.#pages.keys().next().value!);
    }
    return page;
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
    const { petId, expiresAt } = decodeRecord(newest);
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

  #dropPage(name: string): void {
    this.#pagesLength -= this.#pages.get(name)?.value.text.length ?? 0;
    this.#pages.delete(name);
  }

  /** The pets of a page, and at least one more unless it is the last. */
  #petsOf({ status, limit, cursor }: PageQuery, head: Head): PetText[] | Promise<PetText[]> {
    const newest = Math.min(head.lastPetId, (cursor ?? Infinity) - 1);
    // Ids have no gaps, so the ids of a page of all pets are known before anything is read.
    if (status === undefined) return this.#between(Math.max(1, newest - limit), newest, head);
    if (cursor === undefined) return this.#newestOf(status, head);
    return this.#readByStatus(status, newest, limit + 1, head);
  }

  /** The newest pets of a status. If few pets were added since the last call, checks only those. */
  async #newestOf(status: PetStatus, head: Head): Promise<PetText[]> {
    const { lastPetId, generation } = head;
    const known = this.#newest.get(status);
    const added = known === undefined ? -1 : lastPetId - known.lastPetId;
    let pets: PetText[];
    if (known !== undefined && added >= 0 && added <= CATCH_UP_LIMIT) {
      const later = (await this.#between(known.lastPetId + 1, lastPetId, head))
        .filter(({ text }) => hasStatus(text, status));
      pets = [...later, ...known.value].slice(0, NEWEST_LIMIT);
    } else {
      pets = await this.#readByStatus(status, lastPetId, NEWEST_LIMIT, head);
    }
    if (generation === this.#generation) this.#newest.set(status, { value: pets, lastPetId });
    return pets;
  }

  async #readByStatus(
    status: PetStatus,
    newest: number,
    limit: number,
    { generation }: Head,
  ): Promise<PetText[]> {
    this.#instrumentation.count("cache.reads", { cache: "pages", result: "miss" });
    const keyOf = (id: number) => projectionKey(generation, petByStatusKey(status, id));
    const pets = textsOf(await this.#readRecords(keyOf, 1, newest, limit), 1, newest, limit);
    for (const { id, text } of pets) if (!hasStatus(text, status)) throw damaged(id);
    return pets;
  }

  /** The pets from `newest` down to `oldest`, both included. */
  #between(oldest: number, newest: number, head: Head): PetText[] | Promise<PetText[]> {
    const pets: PetText[] = [];
    for (let id = newest; id >= oldest; id--) {
      const text = this.#pets.get(id);
      if (text === undefined) {
        this.#instrumentation.count("cache.reads", { cache: "pages", result: "miss" });
        return this.#readAll(oldest, newest, head);
      }
      pets.push({ id, text });
    }
    this.#instrumentation.count("cache.reads", { cache: "pages", result: "hit" });
    return pets;
  }

  /** Reads the records that hold these pets, and caches all pets in them: neighbours are often read next. */
  async #readAll(oldest: number, newest: number, { generation }: Head): Promise<PetText[]> {
    const count = newest - oldest + 1;
    const keyOf = (id: number) => projectionKey(generation, petKey(id));
    const records = await this.#readRecords(keyOf, oldest, newest, count);
    const pets = textsOf(records, oldest, newest, count);
    if (pets.length < count) throw damaged(newest);
    for (const { key, value } of generation === this.#generation ? records : []) {
      this.#pets.put(key.at(-1) as number, value as Uint8Array);
    }
    return pets;
  }

  /**
   * Reads the records that hold pets from `newest` down, as many as `limit` pets need at most. The first of them may end
   * at a later pet.
   */
  async #readRecords(
    keyOf: (id: number) => Key,
    oldest: number,
    newest: number,
    limit: number,
  ): Promise<StoreEntry[]> {
    const range = { start: keyOf(oldest), end: keyOf(newest) };
    const [ofNewest, ofOthers] = await Promise.all([
      this.#store.list({ start: keyOf(newest), end: keyOf(LAST_ID) }, { limit: 1 }),
      oldest < newest ? this.#store.list(range, { limit, reverse: true }) : [],
    ]);
    return [...ofNewest, ...ofOthers];
  }
}

/** At most `limit` pets of records from `newest` down to `oldest`. Throws unless the ids descend. */
function textsOf(
  records: StoreEntry[],
  oldest: number,
  newest: number,
  limit: number,
): PetText[] {
  const pets: PetText[] = [];
  for (const record of records) {
    for (const { id, line } of unpackPets(record).reverse()) {
      if (id > newest) continue;
      if (id < oldest || pets.length === limit) return pets;
      if (pets.length > 0 && id >= pets.at(-1)!.id) throw damaged(id);
      pets.push({ id, text: decoder.decode(line) });
    }
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

function damaged(id: number): ServiceError {
  return new ServiceError(
    "projection_damaged",
    `The projection of pet ${id} does not match the log`,
  );
}
