import { petTextOf, type RecordedLine } from "../../events/event.ts";
import { hasStatus, PET_STATUSES, petIdOf, type PetStatus } from "../../events/pet.ts";
import { sha256Hex } from "../encoding/sha256.ts";
import { PET_LISTS, petKey, petListOf, projectionKey } from "../keyspace.ts";
import { type Head, type HeadEntry, readHead } from "../log/head.ts";
import { readEvents } from "../log/read_log.ts";
import { ServiceError } from "../service_error.ts";
import type { Store, StoreEntry } from "../store/store.ts";
import { type Instrumentation, NO_INSTRUMENTATION } from "../telemetry/instrumentation.ts";
import { PetCache } from "./pet_cache.ts";

/** Maximum number of cached pages. */
const PAGES_CACHE_LIMIT = 1_000;

/** Maximum total text of cached pages, in UTF-16 code units. A thousand long pages would take 600 MB. */
const PAGES_TEXT_LIMIT = 32 * 1024 * 1024;

/** How many of the newest pets of a status are cached: more than the longest page and one, so that some may leave. */
const NEWEST_LIMIT = 150;

/** Maximum number of added pets to check when the newest pets of a status are brought up to date. */
const ADDED_LIMIT = 500;

/** Maximum number of events to read for changes by other instances. Beyond it, the caches are cleared. */
const EVENTS_LIMIT = 1_000;

/** Maximum number of attempts to read pets, or a page, while they are changed. */
const READ_ATTEMPTS = 10;

/** Larger than any id. */
const NO_CURSOR = Number.MAX_SAFE_INTEGER;

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

interface FoundPets {
  /** Newest first. */
  pets: PetText[];
  /** Whether some were changed after the head. Then they are not all as of one head. */
  isLater: boolean;
}

/** All pets of a status with ids from `from` to `lastPetId`, newest first. */
interface NewestPets {
  pets: PetText[];
  from: number;
  lastPetId: number;
}

/** A page that depends on the pets from `from` on, and was read while `lastPetId` was the newest. */
interface CachedPage {
  page: Page;
  query: PageQuery;
  from: number;
  lastPetId: number;
}

/** The lines of a commit, and the heads before and after it. */
interface CommittedLines {
  base: HeadEntry;
  next: Head;
  lines: readonly RecordedLine[];
}

/**
 * Reads pets and pages of pets as of a head, or as of a later one. Both are cached, and the caches follow the changes of
 * pets: those of this instance as they are committed, those of others by reading the new lines of the log.
 */
export class PetReader {
  #store: Store;
  #instrumentation: Instrumentation;
  #readNewestHead: () => Promise<HeadEntry>;
  /** The generation of the cached pets. */
  #generation = 0;
  /** The position up to which the caches have followed the changes, and the newest pet of a head with these changes. */
  #position = 0;
  #lastPetId = 0;
  /** Number of changes that the caches have followed. What was read before a change must not be cached after it. */
  #changes = 0;
  #catchingUp: Promise<void> | undefined;
  #pets = new PetCache();
  #newest = new Map<PetStatus, NewestPets>();
  #pages = new Map<string, CachedPage>();
  #pagesLength = 0;

  /** `readNewestHead` reads the head, and rejects if it cannot be trusted. */
  constructor(
    store: Store,
    instrumentation = NO_INSTRUMENTATION,
    readNewestHead: () => Promise<HeadEntry> = () => readHead(store),
  ) {
    this.#store = store;
    this.#instrumentation = instrumentation;
    this.#readNewestHead = readNewestHead;
  }

  /** The JSON text of the pet with an id, or `undefined` if there is no such pet. */
  async get(id: number, entry: HeadEntry): Promise<string | undefined> {
    if (id < 1 || id > entry.head.lastPetId) return undefined;
    while (!this.#hasFollowed(entry.head)) entry = await this.#follow(entry);
    const { pets: [pet] } = await this.#between(id, id, entry, "pets");
    return pet.text;
  }

  /** A page of pets, all as of one head; unless pets of it are changed during each of ten attempts. */
  async list(query: PageQuery, entry: HeadEntry): Promise<Page> {
    const { status, limit, cursor } = query;
    const name = `${status ?? ""}/${limit}/${cursor ?? ""}`;
    for (let attempt = 1;; attempt++) {
      while (!this.#hasFollowed(entry.head)) entry = await this.#follow(entry);
      const { head } = entry;
      const cached = this.#pages.get(name);
      const holds = cached !== undefined &&
        (cursor !== undefined && cursor <= cached.lastPetId + 1 ||
          cached.lastPetId === head.lastPetId);
      if (holds) {
        this.#instrumentation.count("cache.reads", { cache: "pages", result: "hit" });
        return cached.page;
      }
      const changes = this.#changes;
      const lastPetId = Math.max(head.lastPetId, this.#lastPetId);
      const { pets, isLater } = await this.#petsOf(query, lastPetId, entry);
      if (isLater && attempt < READ_ATTEMPTS) {
        entry = await this.#readNewestHead();
        continue;
      }
      const shown = pets.slice(0, limit);
      const text = `[${shown.map(({ text }) => text).join(",")}]`;
      // One pet more than the limit means that there is a next page.
      const next = pets.length > limit ? shown.at(-1)!.id : undefined;
      const page: Page = { text, next, hash: sha256Hex(`${next ?? ""}${text}`) };
      if (isLater || changes !== this.#changes) return page;
      const from = next === undefined ? 1 : pets[limit].id;
      this.#dropPage(name);
      this.#pages.set(name, { page, query, from, lastPetId });
      this.#pagesLength += text.length;
      while (this.#pages.size > PAGES_CACHE_LIMIT || this.#pagesLength > PAGES_TEXT_LIMIT) {
        this.#dropPage(this.#pages.keys().next().value!);
      }
      return page;
    }
  }

  /** Follows the changes of a commit of this instance, and caches the pets that it added. */
  onCommitted({ base, next, lines }: CommittedLines): void {
    // Otherwise the changes before it must be followed first.
    if (this.#hasFollowed(base.head)) this.#apply(lines, next);
  }

  /** Whether the caches show the pets as of the head or of a later one. Only then may a head be read on. */
  #hasFollowed({ generation, changePosition, position }: Head): boolean {
    if (generation !== this.#generation) return false;
    if (changePosition > this.#position) return false;
    // The events after its last change need not be read.
    this.#position = Math.max(this.#position, position);
    return true;
  }

  /** Brings the caches nearer to a head. Resolves to the head to read on: a newer one if its generation is outdated. */
  async #follow(entry: HeadEntry): Promise<HeadEntry> {
    const { head } = entry;
    if (head.generation < this.#generation) return await this.#readNewestHead();
    // A replay may have corrected the records of its generation.
    if (head.generation > this.#generation) this.#clear(head);
    else {
      this.#catchingUp ??= this.#catchUp(head).finally(() => this.#catchingUp = undefined);
      await this.#catchingUp;
    }
    return entry;
  }

  async #catchUp(head: Head): Promise<void> {
    const { changePosition: to, lastPetId } = head;
    const from = this.#position + 1;
    const lines = to - from < EVENTS_LIMIT
      ? await readEvents(this.#store, { from, to })
      : undefined;
    if (head.generation !== this.#generation) return;
    if (lines === undefined) this.#clear(head);
    else this.#apply(lines, { position: to, lastPetId });
  }

  #clear({ generation, changePosition, lastPetId }: Head): void {
    this.#generation = generation;
    this.#position = changePosition;
    this.#lastPetId = lastPetId;
    this.#changes++;
    this.#pets.clear();
    this.#newest.clear();
    this.#pages.clear();
    this.#pagesLength = 0;
  }

  /**
   * Follows lines up to a head, or up to its last change. Some lines may have been followed before, because the answer to
   * a commit of this instance can come late.
   */
  #apply(
    lines: readonly RecordedLine[],
    { position, lastPetId }: Pick<Head, "position" | "lastPetId">,
  ): void {
    const left = lines.filter(({ event }) => event.position > this.#position);
    this.#position = Math.max(this.#position, position);
    this.#lastPetId = Math.max(this.#lastPetId, lastPetId);
    for (const recorded of left) {
      const { type, data } = recorded.event;
      if (type !== "PetCreated" && type !== "PetUpdated") continue;
      const text = petTextOf(recorded);
      this.#pets.put(data.id, text);
      if (type === "PetCreated") continue;
      const { id, status, previous } = data;
      this.#changes++;
      const former = previous.status === undefined ? status : previous.status ?? undefined;
      for (const [ofStatus, newest] of this.#newest) {
        changeNewest(newest, { id, text: decoder.decode(text) }, ofStatus === status);
      }
      for (const [name, { query, from }] of this.#pages) {
        const isShown = id >= from && id < (query.cursor ?? Infinity);
        if (isShown && [undefined, former, status].includes(query.status)) this.#dropPage(name);
      }
    }
  }

  #dropPage(name: string): void {
    this.#pagesLength -= this.#pages.get(name)?.page.text.length ?? 0;
    this.#pages.delete(name);
  }

  /** The pets of a page, and at least one more unless it is the last. */
  #petsOf(
    { status, limit, cursor = NO_CURSOR }: PageQuery,
    lastPetId: number,
    entry: HeadEntry,
  ): FoundPets | Promise<FoundPets> {
    const newest = Math.min(lastPetId, cursor - 1);
    // Ids have no gaps, so the ids of a page of all pets are known before anything is read.
    if (status === undefined) return this.#between(Math.max(1, newest - limit), newest, entry);
    if (cursor === NO_CURSOR) return this.#newestOf(status, limit + 1, lastPetId, entry);
    return this.#readByStatus(status, cursor, limit + 1, entry.head);
  }

  /** The newest pets of a status, at least `count` if there are as many. If few were added since, checks only those. */
  async #newestOf(
    status: PetStatus,
    count: number,
    lastPetId: number,
    entry: HeadEntry,
  ): Promise<FoundPets> {
    const { head } = entry;
    const changes = this.#changes;
    const known = this.#newest.get(status);
    const added = known === undefined ? -1 : lastPetId - known.lastPetId;
    if (known !== undefined && added >= 0 && added <= ADDED_LIMIT) {
      const { pets, from } = known;
      const later = await this.#between(known.lastPetId + 1, lastPetId, entry);
      const withStatus = later.pets.filter(({ text }) => hasStatus(text, status));
      const newest = shorten({ pets: [...withStatus, ...pets], from, lastPetId });
      const isCurrent = !later.isLater && changes === this.#changes;
      if (isCurrent && (newest.pets.length >= count || newest.from === 1)) {
        this.#newest.set(status, newest);
        return { pets: newest.pets, isLater: false };
      }
    }
    const found = await this.#readByStatus(status, NO_CURSOR, NEWEST_LIMIT, head);
    // Changes are followed from those of the head on, and pets that were added later are put before these.
    const { head: now } = await this.#readNewestHead();
    if (now.changePosition === head.changePosition && changes === this.#changes) {
      const pets = found.pets.filter(({ id }) => id <= head.lastPetId);
      const from = found.pets.length < NEWEST_LIMIT ? 1 : found.pets.at(-1)!.id;
      this.#newest.set(status, { pets, from, lastPetId: head.lastPetId });
    }
    return found;
  }

  /**
   * Reads one list at one moment, so its pets are those of the head of then. Pets that were added after `head` must be
   * among them, because later changes are.
   */
  async #readByStatus(
    status: PetStatus,
    cursor: number,
    limit: number,
    { generation }: Head,
  ): Promise<FoundPets> {
    this.#instrumentation.count("cache.reads", { cache: "pages", result: "miss" });
    const keyOf = (id: number) => projectionKey(generation, petKey(petListOf(status), id));
    const range = { start: keyOf(1), end: keyOf(cursor) };
    const entries = await this.#store.list(range, { limit, reverse: true });
    return { pets: entries.map(petOf), isLater: false };
  }

  /** The pets from `newest` down to `oldest`, both included. */
  #between(
    oldest: number,
    newest: number,
    entry: HeadEntry,
    cache = "pages",
  ): FoundPets | Promise<FoundPets> {
    const pets: PetText[] = [];
    for (let id = newest; id >= oldest; id--) {
      const text = this.#pets.get(id);
      if (text === undefined) {
        this.#instrumentation.count("cache.reads", { cache, result: "miss" });
        return this.#readAll(oldest, newest, entry);
      }
      pets.push({ id, text });
    }
    this.#instrumentation.count("cache.reads", { cache, result: "hit" });
    return { pets, isLater: false };
  }

  /**
   * Reads the pets from `newest` down to `oldest` from the store, and caches them. Their lists are not read at one
   * moment, so a pet may be in two of them, or in none: then reads them again.
   */
  async #readAll(
    oldest: number,
    newest: number,
    { head, versionstamp }: HeadEntry,
  ): Promise<FoundPets> {
    const changes = this.#changes;
    for (let attempt = 1;; attempt++) {
      const pets = new Map<number, StoreEntry>();
      let last = "";
      for (const entry of await this.#readLists(oldest, newest, head)) {
        const id = entry.key.at(-1) as number;
        // If a pet was moved to another list between the reads, its newer record counts.
        if (entry.versionstamp > (pets.get(id)?.versionstamp ?? "")) pets.set(id, entry);
        if (entry.versionstamp > last) last = entry.versionstamp;
      }
      if (pets.size < newest - oldest + 1) {
        if (attempt < READ_ATTEMPTS) continue;
        for (let id = newest;; id--) if (!pets.has(id)) throw damaged(id);
      }
      const texts = [...pets.values()].map(petOf).sort(newestFirst);
      const isLater = last > versionstamp!;
      for (const [id, { value }] of !isLater && changes === this.#changes ? pets : []) {
        if (this.#pets.get(id) === undefined) this.#pets.put(id, value as Uint8Array);
      }
      return { pets: texts, isLater };
    }
  }

  async #readLists(oldest: number, newest: number, { generation }: Head): Promise<StoreEntry[]> {
    const lists = await Promise.all(PET_LISTS.map((list) => {
      const keyOf = (id: number) => projectionKey(generation, petKey(list, id));
      // Faster than a list of one record.
      if (oldest === newest) return this.#store.get(keyOf(oldest));
      const range = { start: keyOf(oldest), end: keyOf(newest + 1) };
      return this.#store.list(range, { limit: newest - oldest + 1 });
    }));
    return lists.flat().filter((entry) => entry !== null);
  }
}

/** Puts a changed pet into the newest pets of a status, or takes it out. */
function changeNewest(newest: NewestPets, pet: PetText, hasStatus: boolean): void {
  // A pet that was added later is looked at as it is then.
  if (pet.id < newest.from || pet.id > newest.lastPetId) return;
  const pets = newest.pets.filter(({ id }) => id !== pet.id);
  if (hasStatus) pets.push(pet);
  Object.assign(newest, shorten({ ...newest, pets: pets.sort(newestFirst) }));
}

function shorten(newest: NewestPets): NewestPets {
  if (newest.pets.length <= NEWEST_LIMIT) return newest;
  const pets = newest.pets.slice(0, NEWEST_LIMIT);
  return { ...newest, pets, from: pets.at(-1)!.id };
}

function newestFirst(one: PetText, other: PetText): number {
  return other.id - one.id;
}

/** The pet of a record. Throws `projection_damaged` unless it has the id and the status that its key says. */
function petOf({ key, value }: StoreEntry): PetText {
  const id = key.at(-1) as number;
  const bytes = value instanceof Uint8Array ? value : new Uint8Array();
  const text = decoder.decode(bytes);
  const status = PET_STATUSES.find((status) => hasStatus(text, status));
  if (petIdOf(bytes) !== id || petListOf(status) !== key.at(-2)) throw damaged(id);
  return { id, text };
}

function damaged(id: number): ServiceError {
  return new ServiceError(
    "projection_damaged",
    `The projection of pet ${id} does not match the log`,
  );
}
