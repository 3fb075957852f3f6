import { type PetStatus } from "../../events/pet.ts";
import { Failure } from "../failure.ts";
import type { Head } from "../log/head.ts";
import { petByIdempotencyKeyKey, petByStatusKey, petKey, projectionKey } from "../store/layout.ts";
import type { Store } from "../store/store.ts";

/** How much text of single pets is remembered, in UTF-16 code units. */
const PETS_CACHE_LIMIT = 32 * 1024 * 1024;

/** How many pages are remembered. */
const PAGES_CACHE_LIMIT = 1_000;

export interface PageQuery {
  /** How many pets at the most, 1 to 100. */
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
}

interface RememberedPage {
  page: Page;
  generation: number;
  /** The newest pet when the page was read. A page below a cursor is the same for good. */
  lastPetId: number;
}

/**
 * Pets and pages of pets as of a head. Both are functions of the head alone, since pets are only ever
 * added, and never change: what was read once is remembered.
 */
export class PetReader {
  #store: Store;
  #generation = 0;
  #pets = new Map<number, string>();
  #petsLength = 0;
  #pages = new Map<string, RememberedPage>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Takes note of a pet that was just added. */
  remember(id: number, text: string): void {
    if (this.#pets.has(id)) return;
    this.#pets.set(id, text);
    this.#petsLength += text.length;
    while (this.#petsLength > PETS_CACHE_LIMIT) {
      const [oldest, oldText] = this.#pets.entries().next().value!;
      this.#pets.delete(oldest);
      this.#petsLength -= oldText.length;
    }
  }

  /** The JSON text of a pet, or `undefined` where none has that id. */
  get(id: number, head: Head): string | undefined | Promise<string> {
    if (id < 1 || id > head.lastPetId) return undefined;
    this.#follow(head);
    return this.#pets.get(id) ?? this.#readPet(id, head);
  }

  /** A page of pets. */
  list(query: PageQuery, head: Head): Page | Promise<Page> {
    this.#follow(head);
    const name = `${query.status ?? ""}/${query.limit}/${query.cursor ?? ""}`;
    const remembered = this.#pages.get(name);
    const holds = remembered !== undefined && remembered.generation === head.generation &&
      (query.cursor !== undefined && query.cursor <= remembered.lastPetId + 1 ||
        remembered.lastPetId === head.lastPetId);
    return holds ? remembered.page : this.#readPage(name, query, head);
  }

  /**
   * The id of the pet that the actor added with an Idempotency-Key (its SHA-256 in hex) which has not
   * expired at `now`. What was added after that head may be found or not.
   */
  async madeWith(
    actor: string,
    idempotencyKey: string,
    { generation }: Head,
    now: number,
  ): Promise<number | undefined> {
    const prefix = projectionKey(generation, petByIdempotencyKeyKey(actor, idempotencyKey));
    const [newest] = await this.#store.list({ prefix }, { limit: 1, reverse: true });
    if (newest === undefined) return undefined;
    const { petId, expiresAt } = JSON.parse(newest.value as string);
    // The store removes what has expired up to a minute late.
    return Date.parse(expiresAt) > now ? petId : undefined;
  }

  /** Forgets what another generation said: a replay may have put it right. */
  #follow({ generation }: Head): void {
    if (generation === this.#generation) return;
    this.#generation = generation;
    this.#pets.clear();
    this.#petsLength = 0;
    this.#pages.clear();
  }

  async #readPet(id: number, { generation }: Head): Promise<string> {
    const entry = await this.#store.get(projectionKey(generation, petKey(id)));
    if (entry === null) throw damaged(`Pet ${id} is in the log but not in the projection`);
    const text = entry.value as string;
    if (generation === this.#generation) this.remember(id, text);
    return text;
  }

  async #readPage(name: string, query: PageQuery, head: Head): Promise<Page> {
    const page = query.status === undefined
      ? await this.#readNewest(query, head)
      : await this.#readNewestOfStatus(query.status, query, head);
    if (this.#pages.size >= PAGES_CACHE_LIMIT) {
      this.#pages.delete(this.#pages.keys().next().value!);
    }
    const { generation, lastPetId } = head;
    this.#pages.set(name, { page, generation, lastPetId });
    return page;
  }

  /** Ids have no gaps, so the page is known by its ids before anything is read. */
  async #readNewest({ limit, cursor }: PageQuery, { generation, lastPetId }: Head): Promise<Page> {
    const newest = Math.min(lastPetId, (cursor ?? Infinity) - 1);
    const oldest = Math.max(1, newest - limit + 1);
    if (newest < 1) return { text: "[]" };
    const texts: string[] = [];
    for (let id = newest; id >= oldest; id--) {
      const text = this.#pets.get(id);
      if (text === undefined) break;
      texts.push(text);
    }
    if (texts.length <= newest - oldest) {
      texts.length = 0;
      const start = projectionKey(generation, petKey(oldest));
      const end = projectionKey(generation, petKey(newest + 1));
      for (const { value } of await this.#store.list({ start, end }, { limit, reverse: true })) {
        texts.push(value as string);
      }
      if (texts.length !== newest - oldest + 1) {
        throw damaged(`A pet from ${oldest} to ${newest} is in the log but not in the projection`);
      }
    }
    return { text: `[${texts.join(",")}]`, ...(oldest > 1 ? { next: oldest } : {}) };
  }

  async #readNewestOfStatus(
    status: PetStatus,
    { limit, cursor }: PageQuery,
    { generation, lastPetId }: Head,
  ): Promise<Page> {
    const end = Math.min(lastPetId + 1, cursor ?? Infinity);
    const range = {
      start: projectionKey(generation, petByStatusKey(status, 0)),
      end: projectionKey(generation, petByStatusKey(status, end)),
    };
    // One more than wanted tells whether there is a next page.
    const entries = await this.#store.list(range, { limit: limit + 1, reverse: true });
    const shown = entries.slice(0, limit);
    const text = `[${shown.map(({ value }) => value as string).join(",")}]`;
    return entries.length > limit ? { text, next: shown.at(-1)!.key.at(-1) as number } : { text };
  }
}

function damaged(message: string): Failure {
  return new Failure("projection_damaged", message);
}
