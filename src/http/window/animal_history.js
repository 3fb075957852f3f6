// The animal whose page is open: how it is now, and all that happened to it.

import { request } from "./api.js";
import { attempt, run, showProblem } from "./session.js";
import { setState, state } from "./state.js";

const PAGE_LENGTH = 100;

/**
 * Opens the page of an animal. `pet` is `undefined` until it is known, `events` are its events, the newest first, and
 * `nextPage` is the path of older ones.
 */
export function openAnimal(id) {
  const animal = {
    id,
    pet: state.pets.get(id),
    isRemoved: false,
    isUnknown: false,
    events: [],
    nextPage: undefined,
    isLoading: true,
  };
  setState({ animal });
  attempt(() => load(id), (error) => showFailure(id, error));
}

async function load(id) {
  const { body: pet } = await request(`pets/${id}`);
  changeAnimal(id, { pet });
  await loadEvents(id, firstPageOf(id));
}

export function loadOlder() {
  const { id, nextPage } = state.animal;
  changeAnimal(id, { isLoading: true, nextPage: undefined });
  return attempt(() => loadEvents(id, nextPage), (error) => {
    changeAnimal(id, { isLoading: false, nextPage });
    showProblem(error);
  });
}

async function loadEvents(id, path) {
  const { body, nextPage } = await request(path);
  if (state.animal?.id !== id) return;
  changeAnimal(id, { events: merged(state.animal.events, body), nextPage, isLoading: false });
}

/** Shows new events of the stream on the page of their animal. */
export function showEventsOfAnimal(events) {
  const id = state.animal?.id;
  const own = events.filter(({ data }) => data.id === id);
  if (own.length === 0) return;
  const { type, data: { previous: _, ...pet } } = own.at(-1);
  const isRemoved = type === "PetRemoved";
  changeAnimal(id, { pet, isRemoved, events: merged(state.animal.events, own) });
  // The stream does not say who it was, and nobody can read the history of a removed animal.
  if (!isRemoved) run(() => loadNewest(id));
}

async function loadNewest(id) {
  const { body } = await request(firstPageOf(id));
  if (state.animal?.id === id) changeAnimal(id, { events: merged(state.animal.events, body) });
}

function firstPageOf(id) {
  return `pets/${id}/events?limit=${PAGE_LENGTH}`;
}

function changeAnimal(id, change) {
  if (state.animal?.id === id) setState({ animal: { ...state.animal, ...change } });
}

function showFailure(id, error) {
  changeAnimal(id, { isLoading: false });
  if (error.status !== 404) {
    showProblem(error);
    return;
  }
  // The page of an animal that it knows says that the animal was removed meanwhile.
  const isKnown = state.animal?.pet !== undefined;
  changeAnimal(id, isKnown ? { isRemoved: true } : { isUnknown: true });
}

/** Some events and others, each once, the newest first. If both have an event, that of `more` stays. */
function merged(events, more) {
  const byId = new Map([...events, ...more].map((event) => [event.id, event]));
  return [...byId.values()].sort((a, b) => a.id < b.id ? 1 : -1);
}
