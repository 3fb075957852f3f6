import { type Head, type Runtime, ServiceError } from "eventstore-less";
import {
  damagedError,
  decodeRecord,
  type HeadReader,
  kindPrefix,
  projectionKey,
  proveRecord,
  readProof,
  sha256Hex,
} from "eventstore-less/parts";
import { scan, type Store, type StoreDamagedError, type StoreEntry } from "eventstore-less/store";
import { APPLICATION } from "../application.ts";
import { type Category, encodeCategory } from "../../events/category.ts";
import { foldName } from "../encoding/fold_name.ts";
import { commandName } from "../runtime/words.ts";
import { parseCategoryId } from "./category_id.ts";
import { categoryCount, categoryPositionOf } from "./category_counts.ts";
import { CATEGORY_KIND, categoryKey, removedCategoryKey } from "./category_records.ts";

/** After this time in milliseconds, no further attempt to read the categories begins. */
const READ_LIMIT_MS = 1_000;

/** Number of records that are proven together, which takes milliseconds. Then other requests have a turn. */
const PROOFS_AT_ONCE = 100;

/** A category as the store has it. */
export interface CategoryRecord extends Category {
  /** The JSON text. */
  text: string;
  /** The text by which the name is compared. */
  foldedName: string;
  /** Position of the event that gave the name. */
  position: number;
  /** Whether the line of that event has proven the record. */
  isProven: boolean;
}

/** All categories with names. */
export interface Categories {
  /** They are as of this head, and as of later ones until the next event of any category. */
  head: Head;
  /** In the order of their ids. */
  byId: ReadonlyMap<bigint, CategoryRecord>;
  /** A JSON array of all. */
  text: string;
  /** SHA-256 (hex) of the text. */
  hash: string;
  /** The text in gzip, once a client has asked for it. */
  cachedGzip?: Promise<Uint8Array>;
}

export interface CategoryReaderDeps {
  heads: Pick<HeadReader, "read">;
  runtime: Pick<Runtime, "monotonicNow" | "nextTurn">;
  store: Store;
  /** The known damage of the store's file. */
  storeDamage: () => StoreDamagedError | undefined;
}

/** Reads all categories together, and caches them until the next event of a category. */
export class CategoryReader {
  readonly #deps: CategoryReaderDeps;
  #cached: Categories | undefined;
  /** The read under way, and the head that it began at. */
  #reading: { head: Head; categories: Promise<Categories> } | undefined;

  constructor(deps: CategoryReaderDeps) {
    this.#deps = deps;
  }

  /**
   * The categories as of a head or a later one. Rejects with `projection_damaged`, with `store_unavailable` if categories
   * changed during each read, and as {@linkcode Store.list}. Throws `StoreDamagedError` if the store's file is known to be
   * damaged, because that can hide records.
   */
  asOf(head: Head): Categories | Promise<Categories> {
    const damage = this.#deps.storeDamage();
    if (damage !== undefined) throw damage;
    if (this.#cached !== undefined && !isBefore(this.#cached.head, head)) return this.#cached;
    if (this.#reading === undefined || isBefore(this.#reading.head, head)) {
      const categories = this.#read(head).then((read) => this.#keep(read));
      this.#reading = { head, categories };
      const forget = () => {
        if (this.#reading?.categories === categories) this.#reading = undefined;
      };
      categories.then(forget, forget);
    }
    return this.#reading.categories;
  }

  /** The categories as asOf() returns them, but each record is proven by the line of its last event, for a decision. */
  async proven(head: Head): Promise<Categories> {
    const categories = await this.asOf(head);
    const unproven = [...categories.byId.values()].filter(({ isProven }) => !isProven);
    for (let start = 0; start < unproven.length; start += PROOFS_AT_ONCE) {
      if (start > 0) await this.#deps.runtime.nextTurn();
      const next = unproven.slice(start, start + PROOFS_AT_ONCE);
      await Promise.all(next.map((category) => this.#prove(category, head)));
    }
    return categories;
  }

  /** Position of the removal of a category without a name, proven by its line; `undefined` if it was never removed. */
  async removedAt(id: bigint, { generation }: Head): Promise<number | undefined> {
    const { store } = this.#deps;
    const entry = await store.get(projectionKey(generation, removedCategoryKey(id)));
    if (entry === null) return undefined;
    const { position } = decodeRecord(APPLICATION, entry);
    await proveRecord(APPLICATION, store, entry, position);
    return position;
  }

  /**
   * The records are not read at one moment. They are as of `head` if a head that is read after them shows no later change
   * of a category.
   */
  async #read(head: Head): Promise<Categories> {
    const { heads, runtime, store } = this.#deps;
    const deadline = runtime.monotonicNow() + READ_LIMIT_MS;
    let asOf = head;
    do {
      const prefix = kindPrefix(asOf.generation, CATEGORY_KIND);
      const entries = await Array.fromAsync(scan(store, { prefix }));
      const { head: now } = await heads.read();
      if (!isBefore(asOf, now)) return this.#categoriesOf(entries.flat(), now);
      asOf = now;
    } while (runtime.monotonicNow() <= deadline);
    const message = "The categories were changed during each read of them";
    throw new ServiceError("store_unavailable", message);
  }

  /** Throws `projection_damaged`, also if a record is missing. */
  #categoriesOf(entries: readonly StoreEntry[], head: Head): Categories {
    expectCount(entries.length, head);
    const categories = entries.map((entry) => this.#categoryOf(entry))
      .sort((one, other) => one.id < other.id ? -1 : 1);
    const text = `[${categories.map((category) => category.text).join(",")}]`;
    const byId = new Map(categories.map((category) => [category.id, category]));
    return { head, byId, text, hash: sha256Hex(text) };
  }

  /**
   * Decodes a record. If it has not changed, returns the known category, which may be proven. Throws
   * `projection_damaged`.
   */
  #categoryOf(entry: StoreEntry): CategoryRecord {
    const { name, position } = decodeRecord(APPLICATION, entry);
    const id = parseCategoryId(entry.key.at(-1) as string);
    if (id === undefined) {
      throw damagedError(APPLICATION, entry.key, "has no identifier of a category");
    }
    const known = this.#cached?.byId.get(id);
    if (known?.name === name && known?.position === position) return known!;
    const text = encodeCategory({ id, name });
    return { id, name, text, foldedName: foldName(name), position, isProven: false };
  }

  #keep(read: Categories): Categories {
    const isNewer = this.#cached === undefined || isBefore(this.#cached.head, read.head);
    if (isNewer) this.#cached = read;
    return read;
  }

  async #prove(category: CategoryRecord, head: Head): Promise<void> {
    const { id, name, position } = category;
    const { event } = await readProof(APPLICATION, this.#deps.store, position);
    const isRight = event.type === "CategoryNamed" && event.data.id === id &&
      event.data.name === name;
    if (!isRight) throw damagedCategoryError(category, head);
    category.isProven = true;
  }
}

/** The error about a category whose record does not follow from the event that it names. */
export function damagedCategoryError({ id }: CategoryRecord, { generation }: Head): ServiceError {
  const key = projectionKey(generation, categoryKey(id));
  return damagedError(APPLICATION, key, "does not follow from its event");
}

function expectCount(count: number, head: Head): void {
  const expected = categoryCount(head);
  if (count === expected) return;
  const message = `The store has ${count} categories, but the head counts ${expected}`;
  throw new ServiceError("projection_damaged", message, { cause: `run ${commandName("audit")}` });
}

/** Whether categories may differ at a later head, or a replay may have written their records again. */
function isBefore(one: Head, later: Head): boolean {
  if (one.generation !== later.generation) return one.generation < later.generation;
  return categoryPositionOf(one) < categoryPositionOf(later);
}
