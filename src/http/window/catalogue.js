// What the page knows of the store: it reads lists, follows the events, and writes.

import { bodyOf, newIdempotencyKey, nextOf, pauseAfter, read, send, stream } from "./client.js";

const DAY_BATCHES = 20;
const EVENTS_KEPT = 1_000;
const JSON_TYPE = { "content-type": "application/json" };
const LOST = "Connection lost. Trying again …";
export const HOUR_MS = 3_600_000;
export const STATUSES = { available: "Available", pending: "Pending", sold: "Sold" };

/** `draw` shows it. `firstRow` is the first row in view, if the reader has scrolled. */
export const state = { filter: { status: "", categoryId: "" }, edits: new Map(), message: "" };
let session = new AbortController();

/** Does what the reader asked for. If it fails, says what the service says, or ends the session with it. */
export async function attempt(action) {
  const { signal } = session;
  try {
    return await action();
  } catch ({ status, message }) {
    if (signal.aborted) return;
    if (status === 401) close(message);
    else say(message);
  } finally {
    state.draw();
  }
}

export function say(message) {
  Object.assign(state, { message });
  state.draw();
}

/** Reads all, with the key of this tab, and follows the store. */
export function open() {
  session.abort();
  session = new AbortController();
  const { signal } = session;
  const nothing = { pets: new Map(), order: [], events: [], hours: new Map(), counts: {} };
  Object.assign(state, nothing, { busy: new Map(), position: undefined, cutAt: undefined });
  return attempt(async () => {
    [state.mayWrite] = await Promise.all([mayWrite(), load()]);
    Object.assign(state, { isOpen: true, opened: state.position, message: "" });
    follow(signal);
    await Promise.all([count(), loadDay()]);
  });
}

/** Forgets the key, and says why. */
export function close(message = "") {
  session.abort();
  delete sessionStorage.apiKey;
  state.edits.clear();
  Object.assign(state, { isOpen: false, dialog: undefined, connection: "" });
  say(message);
}

function request(path, options) {
  return send(path, { signal: session.signal, ...options }, ({ status, message }) => {
    if (status === 0) state.connection = LOST;
    say(status === 0 ? state.message : message);
  });
}

/** Whether the key may write. There is no animal 0, and the patch is empty, so this writes nothing. */
async function mayWrite() {
  const options = { method: "PATCH", body: "{}", headers: JSON_TYPE };
  const error = await request("pets/0", options).catch((error) => error);
  if ([400, 403, 404].includes(error.status)) return error.status !== 403;
  throw error;
}

export function setFilter(change) {
  Object.assign(state, { filter: { ...state.filter, ...change }, next: undefined, end: Infinity });
  rearrange(() => state.pets.clear());
  return attempt(load);
}

function load() {
  const filter = Object.entries(state.filter).filter(([, value]) => value !== "");
  return loadPage(`?${new URLSearchParams([["limit", 100], ...filter])}`);
}

export function loadMore() {
  if (!state.isLoading) attempt(() => loadPage(state.next));
}

async function loadPage(query) {
  const { filter } = state;
  state.isLoading = true;
  try {
    const response = await request(`pets${query}`);
    const pets = await read(response);
    if (filter !== state.filter) return;
    const position = response.headers.get("x-feed-position");
    state.position ??= position;
    state.next = nextOf(response);
    state.end = state.next ? pets.at(-1).id : 0;
    rearrange(() => {
      for (const pet of pets) state.pets.set(pet.id, pet);
      // The stream may have been ahead of this page.
      state.events.filter(({ id }) => id > position).reverse().forEach(apply);
    });
  } finally {
    if (filter === state.filter) state.isLoading = false;
  }
}

/** Changes the listed animals. What is in view keeps its place: `shift` is by how many rows to scroll. */
function rearrange(change) {
  const anchor = state.order[state.firstRow];
  change();
  state.order = [...state.pets.keys()].sort((a, b) => b - a);
  const row = state.order.findIndex((id) => id <= anchor);
  state.shift = anchor === undefined || row < 0 ? 0 : row - state.firstRow;
  state.draw();
}

/** Lists the animal of an event if the list that is loaded so far has it. */
function apply({ type, data: { previous: _, ...pet } }) {
  const { filter: { status, categoryId }, end, pets } = state;
  const isListed = type !== "PetRemoved" && pet.id >= end &&
    (status === "" || status === pet.status) &&
    (categoryId === "" || categoryId === pet.categoryId);
  if (isListed) pets.set(pet.id, pet);
  else pets.delete(pet.id);
}

/** Counts the animals of each tab. One response may overtake another. */
function count() {
  return Promise.all(["", ...Object.keys(STATUSES)].map(async (status) => {
    const { headers } = await request(`pets?limit=1${status && `&status=${status}`}`);
    const position = headers.get("x-feed-position");
    if (position < state.counts[status]?.position) return;
    state.counts[status] = { position, total: Number(headers.get("x-total-count")) };
  }));
}

function countSoon() {
  state.countTimer ??= setTimeout(() => {
    state.countTimer = undefined;
    attempt(count);
  }, 250);
}

/** Follows the store with one stream after the other, until the session ends. */
async function follow(signal) {
  for (let tries = 0;; tries++) {
    let fault;
    try {
      for await (const messages of stream(state.position, signal)) {
        tries = 0;
        state.connection = "Connected";
        state.position = messages.findLast(({ id }) => id !== undefined)?.id ?? state.position;
        const events = messages.map(({ event }) => event).filter((event) => event !== null);
        remember(events);
        rearrange(() => events.forEach(apply));
        if (events.length > 0) countSoon();
      }
    } catch (error) {
      fault = error;
    }
    if (signal.aborted) return;
    if (fault?.status === 401) return close(fault.message);
    if (fault?.status === 410) return open();
    if (fault !== undefined) state.connection = LOST;
    state.draw();
    await pauseAfter(tries, fault);
  }
}

/** Reads the events of the last day before the first list, in a limited number of batches. */
async function loadDay() {
  const { opened } = state;
  let query = `?limit=1000&since=${new Date(Date.now() - 24 * HOUR_MS).toISOString()}`;
  for (let batch = 1; batch <= DAY_BATCHES; batch++) {
    const response = await request(`events${query}`);
    const events = (await read(response)).filter(({ id }) => id <= opened);
    remember(events);
    if (events.length === 0) return;
    query = nextOf(response);
    if (batch === DAY_BATCHES) state.cutAt = events.at(-1).time;
  }
}

/** Keeps the newest events, the last one first, and how many of each type there were in each hour. */
function remember(events) {
  state.events = [...state.events, ...events].sort((a, b) => a.id < b.id ? 1 : -1);
  state.events.length = Math.min(state.events.length, EVENTS_KEPT);
  for (const { time, type } of events) {
    const hour = Math.floor(Date.parse(time) / HOUR_MS);
    const counts = state.hours.get(hour) ?? { PetCreated: 0, PetUpdated: 0, PetRemoved: 0 };
    state.hours.set(hour, { ...counts, [type]: counts[type] + 1 });
  }
}

/** Sends a write. A retry with the same key does nothing twice. */
export function write(method, path, pet, headers = {}) {
  const idempotencyKey = { "idempotency-key": newIdempotencyKey() };
  const body = pet && bodyOf(pet);
  return request(path, { method, body, headers: { ...JSON_TYPE, ...idempotencyKey, ...headers } });
}

/** An animal as it is now, and its ETag. */
export async function readPet(id) {
  const response = await request(`pets/${id}`);
  return { now: await read(response), etag: response.headers.get("etag") };
}

/** Changes an animal, or removes it if `patch` is absent. If it is not as `shown`, `ask` decides. */
export async function change(shown, patch, ask) {
  const { id } = shown;
  let listed = state.pets.get(id);
  const list = (event) => {
    // If the list has another one by now, the stream was faster.
    if (state.pets.get(id) === listed) rearrange(() => apply(event));
    listed = state.pets.get(id);
  };
  for (;;) {
    const { now, etag } = await readPet(id);
    if (JSON.stringify(now) !== JSON.stringify(shown)) {
      list({ data: now });
      if (!await ask(now)) return false;
      shown = now;
    }
    try {
      const method = patch ? "PATCH" : "DELETE";
      const written = await write(method, `pets/${id}`, patch, { "if-match": etag });
      list(patch ? { data: await read(written) } : { type: "PetRemoved", data: now });
      return true;
    } catch (error) {
      if (error.status !== 412) throw error;
    }
  }
}
