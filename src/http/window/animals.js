// The animals: the list as far as it is loaded, the numbers on the tabs, and changes of one animal.

import { request, wait, write } from "./api.js";
import { attempt } from "./session.js";
import { setState, state } from "./state.js";
import { TAB_LABELS } from "./statuses.js";

const PAGE_LENGTH = 100;
const COUNT_PAUSE_MS = 250;

/** Lists the animals of a status or a category, or of both, from the beginning. */
export async function loadAnimals(filterChange) {
  const filter = { ...state.filter, ...filterChange };
  setState({ filter, nextPage: undefined, end: Infinity, pets: new Map(), order: [] });
  const query = new URLSearchParams({ limit: PAGE_LENGTH });
  for (const [name, value] of Object.entries(filter)) {
    if (value !== "") query.set(name, value);
  }
  await loadPage(`pets?${query}`);
}

export async function loadMore() {
  if (state.nextPage === undefined || state.isLoading) return;
  await attempt(() => loadPage(state.nextPage));
}

async function loadPage(path) {
  const { filter } = state;
  const { headers, body: pets, nextPage } = await requestPage(path);
  // The reader may have chosen another filter meanwhile.
  if (filter !== state.filter) return;
  const position = headers.get("x-feed-position");
  state.position ??= position;
  state.nextPage = nextPage;
  state.end = nextPage === undefined ? 0 : pets.at(-1).id;
  const listed = pets.map((pet) => ({ type: "PetCreated", data: pet }));
  // The stream may have been ahead of this page.
  const later = state.events.filter(({ id }) => id > position).reverse();
  updateList([...listed, ...later]);
}

async function requestPage(path) {
  state.isLoading = true;
  try {
    return await request(path);
  } finally {
    state.isLoading = false;
  }
}

/** Updates the part of the list that is loaded. The rows in view keep their place. */
export function updateList(events) {
  const { firstRow, rowHeight } = state.view;
  const anchorId = state.order[firstRow];
  const pets = petsAfter(events, state);
  setState({ pets, order: [...pets.keys()].sort((a, b) => b - a) });
  const row = state.order.findIndex((id) => id <= anchorId);
  if (row >= 0) scrollBy(0, (row - firstRow) * rowHeight);
}

function petsAfter(events, { pets, filter, end }) {
  const after = new Map(pets);
  for (const { type, data } of events) {
    const { previous: _, ...pet } = data;
    const isListed = type !== "PetRemoved" && pet.id >= end && matches(pet, filter);
    if (isListed) after.set(pet.id, pet);
    else after.delete(pet.id);
  }
  return after;
}

function matches(pet, filter) {
  return Object.entries(filter).every(([name, value]) => value === "" || value === pet[name]);
}

/** Counts the animals of each tab, and again after events. Does not end. */
export async function keepCounts() {
  let countedAt;
  for (;;) {
    if (countedAt !== state.position) {
      countedAt = state.position;
      await countTabs();
    }
    await wait(COUNT_PAUSE_MS);
  }
}

async function countTabs() {
  for (const status of Object.keys(TAB_LABELS)) {
    const filter = status === "" ? "" : `&status=${status}`;
    const { headers } = await request(`pets?limit=1${filter}`);
    const total = Number(headers.get("x-total-count"));
    setState({ counts: { ...state.counts, [status]: total } });
  }
}

/** Reads the animal of the dialog about one animal, with its ETag. */
export async function readDetail() {
  const { id } = state.detail.pet;
  const { body: pet, headers } = await request(`pets/${id}`);
  // The reader may have closed the dialog meanwhile.
  if (state.detail?.pet.id === id) setState({ detail: { pet, etag: headers.get("etag") } });
}

/** Changes an animal; see {@linkcode writeUnlessChanged}. */
export function changeAnimal(shown, patch) {
  const send = (path, condition) => write("PATCH", path, patch, condition);
  return writeUnlessChanged(shown, "PetUpdated", send);
}

/** Removes an animal; see {@linkcode writeUnlessChanged}. */
export function removeAnimal(shown) {
  const send = (path, condition) => write("DELETE", path, undefined, condition);
  return writeUnlessChanged(shown, "PetRemoved", send);
}

/**
 * Writes only if the animal still is as the reader saw it. Resolves to `{ theirs: undefined }` if it was, otherwise to
 * the animal as it is now.
 */
async function writeUnlessChanged(shown, eventType, send) {
  const path = `pets/${shown.id}`;
  const { body: now, headers } = await request(path);
  if (JSON.stringify(now) !== JSON.stringify(shown)) return { theirs: now };
  const listed = state.pets.get(now.id);
  let written;
  try {
    written = await send(path, { "if-match": headers.get("etag") });
  } catch (error) {
    // Somebody changed the animal after the read.
    if (error.status === 412) return writeUnlessChanged(shown, eventType, send);
    throw error;
  }
  // If the list has another one by now, the stream was faster.
  const isListOlder = state.pets.get(now.id) === listed;
  if (isListOlder) updateList([{ type: eventType, data: written.body ?? now }]);
  return { theirs: undefined };
}
