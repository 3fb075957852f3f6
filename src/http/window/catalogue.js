// What the page knows of the store: it reads lists, follows the events, and writes.
import { bodyOf, parse, pause, send, stream } from "./client.js";

const DAY_BATCHES = 20;
const EVENTS_KEPT = 1_000;
const LOST = "Connection lost. Trying again …";
export const HOUR_MS = 3_600_000;
export const KINDS = { PetCreated: "added", PetUpdated: "changed", PetRemoved: "removed" };
/** The label of each tab, by its status. */
export const TABS = { "": "All", available: "Available", pending: "Pending", sold: "Sold" };

/** `draw` shows it. `firstRow` is the first row in view, if the list begins above. */
export const state = { filter: { status: "", categoryId: "" }, edits: new Map() };
export const set = (change) => state.draw(Object.assign(state, change));
let session = new AbortController();

/** Does what the reader asked for. If it fails, says why; after 401, asks for another key. */
export function attempt(action) {
  const { signal } = session;
  const fail = ({ status, message }) => status === 401 ? close(message) : set({ message });
  return action().catch((error) => signal.aborted || fail(error)).finally(state.draw);
}

/** Reads all and follows the store. A key is often pasted with its scheme. */
export function open(key) {
  sessionStorage.apiKey = key.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
  session.abort();
  session = new AbortController();
  const { signal } = session;
  Object.assign(state, { pets: new Map(), order: [], events: [], hours: {}, counts: {} });
  Object.assign(state, { busy: new Map(), position: undefined, cutAt: undefined });
  return attempt(async () => {
    // There is no animal 0, and the patch is empty, so this writes nothing.
    const probe = write("PATCH", "pets/0", {}).catch(({ status }) => status !== 403);
    const [mayWrite] = await Promise.all([probe, load()]);
    set({ mayWrite, isOpen: true, opened: state.position, isNew: true, message: "" });
    await Promise.all([follow(signal), count(signal), loadDay()]);
  });
}

/** Forgets the key, and says why. */
export function close(message = "") {
  session.abort();
  delete sessionStorage.apiKey;
  document.querySelector("dialog").close();
  set({ isOpen: false, edits: new Map(), next: undefined, connection: "", message });
}

export async function request(path, options) {
  const onRetry = ({ status, message }) => set(status ? { message } : { connection: LOST });
  const response = await send(path, { signal: session.signal, ...options }, onRetry);
  const { headers } = response;
  // The host of the link may be one that only other clients can reach.
  const next = /<[^?]*(\?[^>]*)>; rel="next"/.exec(headers.get("link"))?.[1];
  return { headers, next, body: parse(await response.text() || "null") };
}

/** Lists the animals of a status or a category, or of both. */
export function load(change) {
  const filter = { ...state.filter, ...change };
  Object.assign(state, { filter, next: undefined, end: Infinity });
  rearrange(() => state.pets.clear());
  const parameters = Object.entries(filter).filter(([, value]) => value !== "");
  return loadPage(`?${new URLSearchParams([["limit", 100], ...parameters])}`);
}

export const loadMore = () => state.next && !state.isLoading && attempt(() => loadPage(state.next));

async function loadPage(query) {
  const { filter } = state;
  state.isLoading = true;
  const page = request(`pets${query}`).finally(() => state.isLoading = false);
  const { headers, next, body: pets } = await page;
  if (filter !== state.filter) return;
  const position = headers.get("x-feed-position");
  state.position ??= position;
  Object.assign(state, { next, end: next ? pets.at(-1).id : 0 });
  rearrange(() => {
    for (const pet of pets) state.pets.set(pet.id, pet);
    // The stream may have been ahead of this page.
    state.events.filter(({ id }) => id > position).reverse().forEach(apply);
  });
}

/** Changes the listed animals. What is in view keeps its place: the page scrolls by `shift` rows. */
function rearrange(change) {
  const anchor = state.order[state.firstRow];
  change();
  const order = [...state.pets.keys()].sort((a, b) => b - a);
  const row = order.findIndex((id) => id <= anchor);
  set({ order, shift: row < 0 ? 0 : row - state.firstRow });
}

/** Lists the animal of an event if the part of the list that is loaded has it. */
function apply({ type, data: { previous: _, ...pet } }) {
  const { filter, end, pets } = state;
  const isLike = Object.entries(filter).every(([field, value]) => ["", pet[field]].includes(value));
  if (type !== "PetRemoved" && pet.id >= end && isLike) pets.set(pet.id, pet);
  else pets.delete(pet.id);
}

/** Counts the animals of each tab, and again after events. */
async function count(signal) {
  for (; !signal.aborted; await pause(0)) {
    if (!state.isNew) continue;
    state.isNew = false;
    for (const status of Object.keys(TABS)) {
      const { headers } = await request(`pets?limit=1${status && `&status=${status}`}`);
      state.counts[status] = Number(headers.get("x-total-count"));
    }
    state.draw();
  }
}

/** Follows the store with one stream after the other, until the session ends. */
async function follow(signal) {
  for (let tries = 0;; tries++) {
    const fault = await stream(state.position, signal, (events) => {
      tries = 0;
      state.connection = "Connected";
      state.position = events.at(-1)?.id ?? state.position;
      state.isNew ||= events.length > 0;
      remember(events);
      rearrange(() => events.forEach(apply));
    }).catch((error) => error);
    if (signal.aborted) return;
    if (fault?.status === 401) throw fault;
    if (fault?.status === 410) return open(sessionStorage.apiKey);
    if (fault) set({ connection: LOST });
    await pause(tries, fault);
  }
}

/** Reads the events of the last day before the first list, in a limited number of batches. */
async function loadDay() {
  let query = `?limit=1000&since=${new Date(Date.now() - 24 * HOUR_MS).toISOString()}`;
  for (let batch = 1; batch <= DAY_BATCHES; batch++) {
    const { body, next } = await request(`events${query}`);
    const events = body.filter(({ id }) => id <= state.opened);
    if (events.length === 0) return;
    remember(events);
    query = next;
    if (batch === DAY_BATCHES) state.cutAt = events.at(-1).time;
  }
}

/** Keeps the newest events, the last one first, and how many of each kind each hour had. */
function remember(events) {
  state.events = [...state.events, ...events].sort((a, b) => a.id < b.id ? 1 : -1);
  state.events.splice(EVENTS_KEPT);
  for (const { time, type } of events) {
    const hour = state.hours[Math.floor(Date.parse(time) / HOUR_MS)] ??= [0, 0, 0];
    hour[Object.keys(KINDS).indexOf(type)]++;
  }
}

/** A new Idempotency-Key. On plain HTTP to another machine, there is no `crypto.randomUUID()`. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

/** Sends a write. With the same key, it does nothing twice. */
export function write(method, path, pet, more, key = newKey()) {
  const headers = { "content-type": "application/json", "idempotency-key": key, ...more };
  return request(path, { method, body: bodyOf(pet), headers });
}

/** Changes an animal, or removes it if `patch` is absent. If it is not as `shown`, `ask` decides. */
export async function change(shown, patch, ask) {
  const path = `pets/${shown.id}`;
  for (;;) {
    const listed = state.pets.get(shown.id);
    const { body: now, headers } = await request(path);
    if (JSON.stringify(now) === JSON.stringify(shown)) {
      const condition = { "if-match": headers.get("etag") };
      const done = await write(patch ? "PATCH" : "DELETE", path, patch, condition).catch((error) => {
        if (error.status !== 412) throw error;
      });
      const event = { type: patch ? "PetUpdated" : "PetRemoved", data: done?.body ?? now };
      // If the list has another one by now, the stream was faster.
      if (done && state.pets.get(shown.id) === listed) rearrange(() => apply(event));
      if (done) return true;
    } else if (await ask(now)) shown = now;
    else return false;
  }
}
