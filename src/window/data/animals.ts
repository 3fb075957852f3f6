/** The animals that the page has read, and the list of them as far as it is loaded. */

import { batch, computed, signal } from "@preact/signals";
import type { Pet } from "../../../events/pet.ts";
import { rememberCategories } from "./categories.ts";
import { isPetEvent, type PetEvent, petIdOf, petIn, type StoreEvent } from "./events.ts";
import { position } from "./feed.ts";
import { type Filter, matches, NO_FILTER, queryOf, searchedId } from "./filter.ts";
import { attempt } from "../parts/messages.tsx";
import { Query, readNow } from "./queries.ts";

const PAGE_LENGTH = 100;
/** A list that is shorter than this many screens loads its next page. */
const SCREENS_LOADED = 2;
/** Pixels of the lowest row. */
const ROW_HEIGHT = 44;
/** The most ids of one request: the limit of the interface. */
export const IDS_MAX = 100;

/** An animal as the service has said last. */
interface KnownAnimal {
  /** The last state in which the page has seen it; `undefined` if it has never seen it. */
  pet: Pet | undefined;
  isRemoved: boolean;
  /** The position of the response or event. Positions sort as texts. */
  at: string;
}

/** Animals by their ids. The map is replaced after each change. */
const known = signal<ReadonlyMap<number, KnownAnimal>>(new Map());

/** A list as far as it is loaded: all known animals that belong in it are its rows. */
interface List {
  filter: Filter;
  /** The list is loaded up to this id; `undefined` before its first page. */
  end: number | undefined;
  /** Path of the next page; `undefined` if there is none. */
  nextPage: string | undefined;
}

const NO_LIST: List = { filter: NO_FILTER, end: undefined, nextPage: undefined };
const list = signal<List>(NO_LIST);

/** The filter that the reader chose. Until its first page has come, the old rows are shown. */
export const wanted = signal<Filter>(NO_FILTER);

export const isLoading = signal(true);

/** Whether the rows are those of an older filter. */
export const isStale = computed(() => list.value.filter !== wanted.value);

export const hasMore = computed(() => list.value.nextPage !== undefined);

/** Whether no page of the wanted list has come. */
export const hasNothing = computed(() => list.value.end === undefined || isStale.value);

/** Whether the first row has the smallest id. */
const isAscending = computed(() => list.value.filter.order === "asc");

/** The ids of the animals in the list. */
export const listed = computed(() => new Set([...known.value].filter(isListed).map(([id]) => id)));

function isListed([id, { pet, isRemoved }]: readonly [number, KnownAnimal]): boolean {
  return pet !== undefined && !isRemoved && isInPart(id) && matches(pet, list.value.filter);
}

/** Whether the loaded part of the list would have an animal. */
function isInPart(id: number): boolean {
  const { filter, end } = list.value;
  // A search has also passed animals after the last one that it found, which may have the words by now.
  return end !== undefined && (isAtOrAfter(end, id) || filter.q !== "");
}

/** The ids of the rows, in their order. */
export const rowIds = computed(() => {
  const all = [...listed.value].sort((a, b) => b - a);
  if (isAscending.value) all.reverse();
  const searched = searchedId(list.value.filter.q);
  if (searched === undefined) return all;
  // The animal with the id that the reader has typed is not after all that have it in their names.
  return all.sort((a, b) => Number(b === searched) - Number(a === searched));
});

/** Whether the row of an id is that of another one, or comes after it. */
export function isAtOrAfter(id: number, other: number): boolean {
  return isAscending.value ? id >= other : id <= other;
}

/** The number of animals that the filter finds, as far as they are loaded. */
export const loadedCount = computed(() => listed.value.size);

/** An animal as the page has seen it last, also if it was removed. */
export function petOf(id: number): Pet | undefined {
  return known.value.get(id)?.pet;
}

/** Whether there is no such animal, as far as the page knows. */
export function isRemoved(id: number): boolean {
  return known.value.get(id)?.isRemoved ?? false;
}

/** Lists the animals that a filter finds, from the beginning. */
export async function loadAnimals(filter: Filter): Promise<void> {
  wanted.value = filter;
  await loadPages(`pets?${queryOf(filter, PAGE_LENGTH)}`, filter);
}

/** The load that began last. Rejects if it fails. */
let lastLoad: Promise<void> = Promise.resolve();

/**
 * Loads the next page or, if a load is running, waits for that, so a caller can repeat it until the list is whole. Resolves
 * to `false` if the load fails, and at once if the page knows no next page of the wanted list.
 */
export async function loadMore(): Promise<boolean> {
  const { nextPage, filter } = list.value;
  if (nextPage === undefined || isStale.value) return false;
  if (isLoading.value) return await attempt("list", () => lastLoad);
  return await attempt("list", () => loadPages(nextPage, filter));
}

/** Loads the rest of the list, as long as `isWanted` says so. Resolves to whether the list is whole. */
export async function loadRest(isWanted: () => boolean): Promise<boolean> {
  const filter = wanted.value;
  const isCurrent = () => wanted.value === filter && isWanted();
  let isLoaded = true;
  while (isLoaded && hasMore.value && isCurrent()) isLoaded = await loadMore();
  return isLoaded && isCurrent();
}

function loadPages(startPath: string, filter: Filter): Promise<void> {
  lastLoad = fillScreen(startPath, filter);
  return lastLoad;
}

/** A page of a search may be short, so several may be needed to fill the screen. */
async function fillScreen(startPath: string, filter: Filter): Promise<void> {
  isLoading.value = true;
  try {
    let path: string | undefined = startPath;
    while (path !== undefined && filter === wanted.value) {
      const nextPage: string | undefined = await loadPage(path, filter);
      path = isShort() ? nextPage : undefined;
    }
  } finally {
    // The reader may have chosen another filter meanwhile, which loads now.
    if (filter === wanted.value) isLoading.value = false;
  }
}

/** Whether the list does not fill the screen and what is below it. */
function isShort(): boolean {
  return rowIds.value.length * ROW_HEIGHT < SCREENS_LOADED * innerHeight;
}

/** Resolves to the path of the next page. */
async function loadPage(path: string, filter: Filter): Promise<string | undefined> {
  const searched = hasNothing.value ? searchedId(filter.q) : undefined;
  if (searched !== undefined) await refreshAnimals([searched]);
  const { body: pets, at, nextPage } = await readNow<Pet[]>(path);
  // The page follows the store from here on, also if the reader has chosen another filter meanwhile.
  position.value ??= at;
  if (filter !== wanted.value) return undefined;
  batch(() => {
    if (isStale.value) list.value = { ...NO_LIST, filter };
    const last = isAscending.value ? Infinity : 0;
    const first = isAscending.value ? 0 : Infinity;
    const end = nextPage === undefined ? last : pets.at(-1)?.id ?? list.value.end ?? first;
    list.value = { filter, end, nextPage };
    learn(pets.map((pet) => ({ id: pet.id, pet, at })));
  });
  return nextPage;
}

/** Forgets all animals, because the service has another log. */
export function forgetAnimals(): void {
  known.value = new Map();
  list.value = NO_LIST;
}

/** Animals to read again. */
const stale = new Set<number>();

/** Animals that were read by their ids, or are being read. */
const asked = new Set<number>();

const animalsQuery = new Query(async () => {
  const ids = [...stale];
  stale.clear();
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    const some = ids.slice(start, start + IDS_MAX);
    const { body, at } = await readNow<Pet[]>(`pets?ids=${some.join()}`);
    const found = new Map(body.map((pet) => [pet.id, pet]));
    learn(some.map((id) => ({ id, pet: found.get(id), at })));
  }
});

/** Reads animals again. Resolves when the page has them. */
export async function refreshAnimals(ids: readonly number[]): Promise<void> {
  for (const id of ids) {
    stale.add(id);
    asked.add(id);
  }
  if (stale.size > 0) await animalsQuery.refresh();
}

/** Takes what some events say, as far as the page shows or knows their animals. After an unknown one, it reads the animal. */
export async function followAnimals(events: readonly StoreEvent[]): Promise<void> {
  const needed = events.filter((event) => {
    const id = petIdOf(event);
    if (id === undefined) return false;
    // A page that is being read may be older than the event.
    return known.value.has(id) || asked.has(id) || isInPart(id) || isLoading.value;
  });
  learn(needed.filter(isPetEvent).map(factOf));
  await refreshAnimals(needed.filter((event) => !isPetEvent(event)).map((it) => petIdOf(it)!));
}

/** An animal at a position of the log: without a pet, it was removed. */
interface Fact {
  id: number;
  pet: Pet | undefined;
  at: string;
}

function factOf(event: PetEvent): Fact {
  const { id: at, type, data: { id } } = event;
  return { id, pet: type === "PetRemoved" ? undefined : petIn(event), at };
}

/** Of two facts about an animal, the one with the later position stays, whichever comes first. */
function learn(facts: readonly Fact[]): void {
  if (facts.length === 0) return;
  const after = new Map(known.value);
  for (const { id, pet, at } of facts) {
    const before = after.get(id);
    if (before !== undefined && before.at > at) continue;
    after.set(id, { pet: pet ?? before?.pet, isRemoved: pet === undefined, at });
  }
  rememberCategories(facts.flatMap(({ pet }) => pet?.categoryId ?? []));
  known.value = after;
}
