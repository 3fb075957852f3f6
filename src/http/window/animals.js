// The list of animals as far as it is loaded.

import { request } from "./api.js";
import { editsAfter, editsInOtherList } from "./edits.js";
import { foldCase } from "./fold_case.js";
import { rowsOf } from "./rows.js";
import { attempt } from "./session.js";
import { EVENTS_KEPT, setState, state } from "./state.js";
import { isInTab } from "./statuses.js";

const PAGE_LENGTH = 100;
/** A list that is shorter than this many screens loads its next page. */
const SCREENS_LOADED = 2;
/** How often a page is loaded again because too much happened meanwhile. */
const LOAD_TRIES = 5;

/** Lists the animals that a filter finds, from the beginning. */
export async function loadAnimals(filter) {
  const pets = new Map();
  const edits = editsInOtherList(state);
  const order = rowsOf(pets, edits);
  setState({ filter, nextPage: undefined, end: Infinity, pets, edits, order });
  await loadPages(`pets?${queryOf(filter, PAGE_LENGTH)}`);
}

/** The query that lists what a filter finds. */
export function queryOf(filter, limit) {
  const query = new URLSearchParams({ limit });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  return query;
}

export async function loadMore() {
  if (state.nextPage === undefined || state.isLoading) return;
  await attempt(() => loadPages(state.nextPage));
}

/** A page of a search may be short, so several may be needed to fill the screen. */
async function loadPages(path) {
  const { filter } = state;
  setState({ isLoading: true });
  try {
    await loadPage(path, filter);
    while (filter === state.filter && isShort(state)) await loadPage(state.nextPage, filter);
  } finally {
    // The reader may have chosen another filter meanwhile, which loads now.
    if (filter === state.filter) setState({ isLoading: false });
  }
}

function isShort({ nextPage, order, view }) {
  const rowsOnScreen = innerHeight / view.rowHeight;
  return nextPage !== undefined && order.length < SCREENS_LOADED * rowsOnScreen;
}

async function loadPage(path, filter) {
  const { position, pets, nextPage } = await requestPage(path);
  // The page follows the store from here on, also if the reader has chosen another filter meanwhile.
  state.position ??= position;
  if (filter !== state.filter) return;
  state.nextPage = nextPage;
  if (nextPage === undefined) state.end = 0;
  else state.end = pets.at(-1)?.id ?? state.end;
  const listed = pets.map((pet) => ({ type: "PetCreated", data: pet }));
  // Some events of the stream may be newer than this page.
  const later = state.events.filter(({ id }) => id > position).reverse();
  updateList([...listed, ...later]);
}

/** Resolves to a page of the list whose later events are all still in `state.events`. */
async function requestPage(path) {
  for (let tries = 1;; tries++) {
    const { headers, body: pets, nextPage } = await request(path);
    const position = headers.get("x-feed-position");
    if (knowsEventsSince(position)) return { position, pets, nextPage };
    if (tries === LOAD_TRIES) {
      throw new Error("The store changes too fast to be listed. Reload the page");
    }
  }
}

function knowsEventsSince(position) {
  const { events } = state;
  const mayHaveForgotten = events.length === EVENTS_KEPT;
  return !mayHaveForgotten || events.at(-1).id <= position;
}

/** Updates the part of the list that is loaded. The rows in view keep their place. */
export function updateList(events) {
  const { firstRow, rowHeight } = state.view;
  const anchorId = state.order[firstRow];
  const pets = petsAfter(events, state);
  const edits = editsAfter(events, pets, state);
  setState({ pets, edits, order: rowsOf(pets, edits) });
  if (state.animal !== undefined) return;
  const row = state.order.findIndex((id) => id <= anchorId);
  if (row >= 0 && row !== firstRow) scrollBy(0, (row - firstRow) * rowHeight);
}

function petsAfter(events, { pets, filter, end }) {
  const after = new Map(pets);
  for (const { type, data } of events) {
    const { previous: _, ...pet } = data;
    // A search may have passed the animal before it had the name.
    const isLoaded = pet.id >= end || filter.name !== "";
    const isListed = type !== "PetRemoved" && isLoaded && matches(pet, filter);
    if (isListed) after.set(pet.id, pet);
    else after.delete(pet.id);
  }
  return after;
}

function matches(pet, { status, categoryId, name }) {
  const isInCategory = categoryId === "" || categoryId === pet.categoryId;
  const hasName = foldCase(pet.name).includes(foldCase(name));
  return isInTab(status, pet) && isInCategory && hasName;
}
