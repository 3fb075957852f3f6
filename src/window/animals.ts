/** The list of animals as far as it is loaded. The rest of the page changes it only through the functions here. */

import { batch, computed, signal } from "@preact/signals";
import type { Pet } from "../../events/pet.ts";
import { edits } from "./edits.ts";
import { request } from "./api.ts";
import { rememberCategories } from "./category_names.ts";
import { isPetEvent, type PetEvent, petIdOf, type StoreEvent } from "./events.ts";
import { eventsAfter, position } from "./feed.ts";
import { type Filter, matches, NO_FILTER, queryOf, searchedId } from "./filter.ts";
import { attempt } from "./messages.tsx";

const PAGE_LENGTH = 100;
/** A list that is shorter than this many screens loads its next page. */
const SCREENS_LOADED = 2;
/** Pixels of the lowest row. */
const ROW_HEIGHT = 44;
/** How often a page is loaded again because too much happened meanwhile. */
const LOAD_TRIES = 5;
/** The limit of the interface. */
const IDS_MAX = 100;

/** A part of the list that is loaded. Replaced after each change. */
interface Loaded {
  filter: Filter;
  /** Animals by their ids. */
  pets: ReadonlyMap<number, Pet>;
  /** The list is loaded up to this id; `undefined` before its first page. */
  end: number | undefined;
  /** Path of the next page; `undefined` if there is none. */
  nextPage: string | undefined;
}

/** An animal that is in the list no more, but still has its row. */
export interface Leaving {
  pet: Pet;
  why: "removed" | "elsewhere";
}

/** The same in words, after the name of the animal. */
export const WHY_LEAVING: Record<Leaving["why"], string> = {
  removed: "was removed",
  elsewhere: "left this list",
};

const loaded = signal<Loaded>({
  filter: NO_FILTER,
  pets: new Map(),
  end: undefined,
  nextPage: undefined,
});

/** The filter that the reader chose. Until its first page has come, the old rows are shown. */
export const wanted = signal<Filter>(NO_FILTER);

export const isLoading = signal(true);

/** New animals that wait for the reader, because their rows would move those under the pointer. */
export const waiting = signal<ReadonlySet<number>>(new Set());

/** Animals that keep their rows, because the reader edits them or the pointer is on the list. */
export const leaving = signal<ReadonlyMap<number, Leaving>>(new Map());

/** Whether the rows are those of an older filter. */
export const isStale = computed(() => loaded.value.filter !== wanted.value);

export const hasMore = computed(() => loaded.value.nextPage !== undefined);

/** Whether no page of the wanted list has come. */
export const hasNothing = computed(() => loaded.value.end === undefined || isStale.value);

/** Whether the first row has the smallest id. */
const isAscending = computed(() => loaded.value.filter.order === "asc");

/** The ids of the rows, in their order. */
export const order = computed(() => {
  const ids = [...loaded.value.pets.keys()].filter((id) => !waiting.value.has(id));
  const all = [...ids, ...leaving.value.keys()].sort((a, b) => b - a);
  if (isAscending.value) all.reverse();
  // The animal with the id that the reader has typed is not after all that have it in their names.
  const searched = searchedId(loaded.value.filter.name);
  return all.sort((a, b) => Number(b === searched) - Number(a === searched));
});

/** Whether the row of an id is that of another one, or comes after it. */
export function isAtOrAfter(id: number, other: number): boolean {
  return isAscending.value ? id >= other : id <= other;
}

/** The number of animals that the filter finds, as far as they are loaded. */
export const loadedCount = computed(() => loaded.value.pets.size);

/** The animal of a row. */
export function petOf(id: number): Pet | undefined {
  return loaded.value.pets.get(id) ?? leaving.value.get(id)?.pet;
}

let isPointerOnRows = false;

/** Says whether the pointer is on the rows. While it is, none of them moves. */
export function setPointerOnRows(isOnRows: boolean): void {
  isPointerOnRows = isOnRows;
  if (isOnRows) return;
  const kept = [...leaving.value].filter(([id]) => edits.value.has(id));
  if (kept.length < leaving.value.size) leaving.value = new Map(kept);
}

/** Shows the animals that wait. */
export function showWaiting(): void {
  waiting.value = new Set();
}

/** Ends the row of an animal that is not in the list. */
export function dropLeaving(id: number): void {
  const others = new Map(leaving.value);
  others.delete(id);
  leaving.value = others;
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
  const { nextPage, filter } = loaded.value;
  if (nextPage === undefined || isStale.value) return false;
  if (isLoading.value) return await attempt(() => lastLoad);
  return await attempt(() => loadPages(nextPage, filter));
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
    while (path !== undefined && filter === wanted.value) path = await loadPage(path, filter);
  } finally {
    // The reader may have chosen another filter meanwhile, which loads now.
    if (filter === wanted.value) isLoading.value = false;
  }
}

/** Resolves to the path of the next page if the list is too short without it. */
async function loadPage(path: string, filter: Filter): Promise<string | undefined> {
  const isFirst = loaded.value.end === undefined || isStale.value;
  const page = await requestPage(path, isFirst ? searchedId(filter.name) : undefined);
  // The page follows the store from here on, also if the reader has chosen another filter meanwhile.
  position.value ??= page.position;
  if (filter !== wanted.value) return undefined;
  batch(() => {
    rememberCategories(page.pets.map(({ categoryId }) => categoryId));
    if (isStale.value) beginList(filter);
    const { nextPage } = page;
    const last = isAscending.value ? Infinity : 0;
    const first = isAscending.value ? 0 : Infinity;
    const end = nextPage === undefined ? last : page.pets.at(-1)?.id ?? loaded.value.end ?? first;
    const pets = new Map(loaded.value.pets);
    const withId = page.withId.filter((pet) => matches(pet, filter));
    for (const pet of [...withId, ...page.pets]) pets.set(pet.id, pet);
    loaded.value = { filter, pets, end, nextPage };
    // Some events of the stream may be newer than this page.
    updateList(eventsAfter(page.position) ?? []);
  });
  const isShort = order.value.length * ROW_HEIGHT < SCREENS_LOADED * innerHeight;
  return isShort ? page.nextPage : undefined;
}

function beginList(filter: Filter): void {
  loaded.value = { filter, pets: new Map(), end: undefined, nextPage: undefined };
  waiting.value = new Set();
  const removed = [...leaving.value].filter(([id, { why }]) =>
    why === "removed" && edits.value.has(id)
  );
  leaving.value = new Map(removed);
}

/** Resolves to a page of the list whose later events the page still has, and to the animal with an id. */
async function requestPage(path: string, id: number | undefined) {
  for (let tries = 1;; tries++) {
    const found = id === undefined ? undefined : await request<Pet[]>(`pets?ids=${id}`);
    const { headers, body: pets, nextPage } = await request<Pet[]>(path);
    const withId = found?.body ?? [];
    // The events after the earlier of both reads bring both up to date.
    const pagePosition = (found?.headers ?? headers).get("x-feed-position") ?? "";
    if (eventsAfter(pagePosition) !== undefined) {
      return { position: pagePosition, pets, withId, nextPage };
    }
    if (tries === LOAD_TRIES) {
      throw new Error("The store changes too fast to be listed. Reload the page");
    }
  }
}

/** Updates the list after some more events. Animals with an event of an unknown type are read again. */
export function updateList(events: readonly StoreEvent[]): void {
  const known = events.filter(isPetEvent);
  applyChanges(known.map(changeByEvent));
  const others = events.filter((event) => !isPetEvent(event)).map(petIdOf);
  const ids = new Set(others.filter((id) => id !== undefined));
  if (ids.size > 0) refresh([...ids]).catch(() => {});
}

async function refresh(ids: readonly number[]): Promise<void> {
  for (let start = 0; start < ids.length; start += IDS_MAX) {
    const some = ids.slice(start, start + IDS_MAX);
    const { body, headers } = await request<Pet[]>(`pets?ids=${some.join()}`);
    const later = eventsAfter(headers.get("x-feed-position") ?? "") ?? [];
    const changes = body.map((pet) => ({ pet, isRemoved: false }));
    applyChanges([...changes, ...later.filter(isPetEvent).map(changeByEvent)]);
  }
}

/** The effect of an event on an animal. */
export interface Change {
  pet: Pet;
  isRemoved: boolean;
  /** Whether the reader has done it in this tab. */
  isOwn?: boolean;
}

export function changeByEvent(event: PetEvent): Change {
  if (event.type !== "PetUpdated") {
    return { pet: event.data, isRemoved: event.type === "PetRemoved" };
  }
  const { previous: _, ...pet } = event.data;
  return { pet, isRemoved: false };
}

export function applyChanges(changes: readonly Change[]): void {
  if (changes.length === 0) return;
  const present = changes.filter(({ isRemoved }) => !isRemoved);
  rememberCategories(present.map(({ pet }) => pet.categoryId));
  const { filter, end, nextPage } = loaded.value;
  const pets = new Map(loaded.value.pets);
  const waitingAfter = new Set(waiting.value);
  const leavingAfter = new Map(leaving.value);
  for (const { pet, isRemoved, isOwn } of changes) {
    const { id } = pet;
    // A search may have passed the animal before it had the name.
    const isInPart = end !== undefined && isAtOrAfter(end, id) || filter.name !== "";
    const isListed = !isRemoved && isInPart && matches(pet, filter);
    const hasRow = pets.has(id) || leavingAfter.has(id);
    if (isListed) {
      if (!hasRow && isPointerOnRows && !isOwn) waitingAfter.add(id);
      // The stream may have brought it first.
      if (isOwn) waitingAfter.delete(id);
      pets.set(id, pet);
      leavingAfter.delete(id);
      continue;
    }
    const shown = pets.get(id) ?? leavingAfter.get(id)?.pet ?? edits.value.get(id)?.base;
    const isShown = hasRow && !waitingAfter.has(id);
    pets.delete(id);
    waitingAfter.delete(id);
    leavingAfter.delete(id);
    const isEdited = edits.value.has(id) && (isShown || isRemoved);
    // Otherwise the second click of a double click would remove the next animal.
    const staysUnderPointer = isShown && isPointerOnRows;
    if (shown !== undefined && (isEdited || staysUnderPointer)) {
      leavingAfter.set(id, {
        pet: isRemoved ? shown : pet,
        why: isRemoved ? "removed" : "elsewhere",
      });
    }
  }
  batch(() => {
    loaded.value = { filter, pets, end, nextPage };
    waiting.value = waitingAfter;
    leaving.value = leavingAfter;
  });
}
