// The state of the page, and its requests. The key of this tab is `sessionStorage.apiKey`.
const AWAY = [0, 408, 429, 502, 503, 504];
const WRITE_TRIES = 8;
const PAUSE_MS = 250;
const REQUEST_LIMIT_MS = 60_000;
const DAY_BATCHES = 20;
const EVENTS_KEPT = 1_000;
export const HOUR_MS = 3_600_000;
export const KINDS = { PetCreated: "added", PetUpdated: "changed", PetRemoved: "removed" };
export const TABS = { "": "All", available: "Available", pending: "Pending", sold: "Sold" };
/** `draw` shows this state, and sets `rowHeight` and `firstRow`, the row at the top of the view. */
export const state = { filter: { status: "", categoryId: "" }, counts: {}, events: [], hours: {},
  edits: new Map(), busy: new Map() };
export const set = (change) => state.draw(Object.assign(state, change));
let key;

/** Runs an action. If it fails, shows why. 401 asks for a key; 410 means another log: reads it. */
export function attempt(action) {
  const ends = { 401: restart, 410: (message) => restart(message, key) };
  const fail = ({ status, message }) => ends[status] ? ends[status](message) : set({ message });
  return action().catch(fail).finally(state.draw);
}

/** Loads the page again, with a key or without one. The new page shows the message. */
export function restart(message, apiKey) {
  delete sessionStorage.apiKey;
  Object.assign(sessionStorage, apiKey && { apiKey });
  history.replaceState({ message }, "");
  location.reload();
}

/** Reads all and follows the store. A key is often pasted with its scheme. */
export function open(apiKey) {
  key = sessionStorage.apiKey = apiKey.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
  return attempt(async () => {
    // There is no animal 0, and the patch is empty, so this writes nothing.
    const probe = write("PATCH", "pets/0", {}).catch(({ status }) => status !== 403);
    const [mayWrite] = await Promise.all([probe, load()]);
    set({ mayWrite, opened: state.position });
    for (const work of [follow, count, loadDay]) attempt(work);
  });
}

/** Repeats a request while the service is away, a write only some times. Rejects with its Error. */
async function send(path, { headers, ...options } = {}) {
  headers = { ...headers, authorization: `Bearer ${key}` };
  for (let tries = 1;; tries++) {
    const init = { ...options, headers, signal: AbortSignal.timeout(REQUEST_LIMIT_MS) };
    const response = await fetch(`v1/${path}`, init).catch(() => Response.error());
    if (response.ok) return response;
    const error = await response.json().catch(() => ({ message: "Connection lost" }));
    const isAway = AWAY.includes(response.status) || !options.method && response.status >= 500;
    if (!isAway || options.method && tries === WRITE_TRIES) throw error;
    set({ connection: `${error.message}. Trying again …` });
    const backOffMs = Math.min(5_000, PAUSE_MS * 2 ** tries) * (0.5 + Math.random() / 2);
    await wait(Math.max(backOffMs, response.headers.get("retry-after") * 1_000));
  }
}

// A category may exceed the integers of JavaScript: it is a text here, and an integer in requests.
const parse = (text) => JSON.parse(text.replaceAll(/("categoryId":)(-?\d+)/g, '$1"$2"'));
const bodyOf = (pet) => JSON.stringify(pet).replace(/("categoryId":)"(-?(?:0|[1-9]\d*))"/, "$1$2");
const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
/** A new Idempotency-Key. On plain HTTP to another machine, there is no `crypto.randomUUID()`. */
export const newKey = () => crypto.getRandomValues(new Uint32Array(4)).join("-");

export async function request(path, options) {
  const response = await send(path, options);
  // The host of the link may be one that only other clients can reach.
  const next = /<[^?]*\/([^>]*)>; rel="next"/.exec(response.headers.get("link"))?.[1];
  return { headers: response.headers, next, body: parse(await response.text() || "null") };
}

/** Sends a write. With the same Idempotency-Key, it does nothing twice. */
export function write(method, path, pet, more) {
  const headers = { "content-type": "application/json", "idempotency-key": newKey(), ...more };
  return request(path, { method, body: pet && bodyOf(pet), headers });
}

/** Lists the animals of a status or a category, or of both. */
export function load(change) {
  const filter = { ...state.filter, ...change };
  set({ filter, next: undefined, end: Infinity, pets: new Map(), order: [] });
  const parameters = Object.entries(filter).filter(([, value]) => value !== "");
  return loadPage(`pets?${new URLSearchParams([["limit", 100], ...parameters])}`);
}

export const loadMore = () => state.next && !state.isLoading && attempt(() => loadPage(state.next));
async function loadPage(path) {
  const { filter } = state;
  state.isLoading = true;
  const { headers, next, body } = await request(path).finally(() => state.isLoading = false);
  if (filter !== state.filter) return;
  const position = headers.get("x-feed-position");
  state.position ??= position;
  Object.assign(state, { next, end: next ? body.at(-1).id : 0 });
  // The stream may have been ahead of this page.
  const later = state.events.filter(({ id }) => id > position).reverse();
  update([...body.map((data) => ({ data })), ...later]);
}

/** Updates the part of the list that is loaded. The rows in view keep their place. */
function update(events) {
  const { end, filter, firstRow, order: { [firstRow]: anchor }, pets, rowHeight } = state;
  for (const { type, data: { previous: _, ...pet } } of events) {
    const isLike = Object.keys(filter).every((it) => ["", pet[it]].includes(filter[it]));
    if (type !== "PetRemoved" && pet.id >= end && isLike) pets.set(pet.id, pet);
    else pets.delete(pet.id);
  }
  set({ order: [...pets.keys()].sort((a, b) => b - a) });
  const row = state.order.findIndex((id) => id <= anchor);
  if (row >= 0) scrollBy(0, (row - firstRow) * rowHeight);
}

/** Counts the animals of each tab, and again after events. */
async function count() {
  for (let counted = "";; await wait(PAUSE_MS)) {
    if (counted === state.position) continue;
    counted = state.position;
    for (const status of Object.keys(TABS)) {
      const { headers } = await request(`pets?limit=1${status && `&status=${status}`}`);
      set({ counts: { ...state.counts, [status]: Number(headers.get("x-total-count")) } });
    }
  }
}

/** Follows the store with one stream after the other. */
async function follow() {
  const headers = { accept: "text/event-stream" };
  for (;; await wait(PAUSE_MS)) {
    const { body } = await send(`events?lastEventId=${state.position}`, { headers });
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    // A stream ends after its time limit, or if it is lost. Then the next request shows which.
    const read = () => reader.read().catch(() => ({ done: true }));
    for (let rest = "", chunk; !(chunk = await read()).done;) {
      const lines = (rest + chunk.value).split("\n");
      rest = lines.pop();
      const events = lines.flatMap((it) => it.startsWith("data: ") ? parse(it.slice(6)) : []);
      state.connection = "Connected";
      state.position = events.at(-1)?.id ?? state.position;
      remember(events);
      update(events);
    }
  }
}

/** Reads the events of the last day before the first list, in a limited number of batches. */
async function loadDay() {
  let path = `events?limit=1000&since=${new Date(Date.now() - 24 * HOUR_MS).toISOString()}`;
  for (let batch = 0; batch < DAY_BATCHES; batch++) {
    const { body, next } = await request(path);
    const events = body.filter(({ id }) => id <= state.opened);
    if (events.length === 0) return;
    remember(events);
    path = next;
  }
  set({ message: "The last 24 hours had too many events to count them all" });
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

/** Changes an animal, or without `patch` removes it. If it is not as `shown`, resolves to it. */
export async function change(shown, patch) {
  const path = `pets/${shown.id}`;
  const { body: now, headers } = await request(path);
  if (JSON.stringify(now) !== JSON.stringify(shown)) return now;
  const listed = state.pets.get(now.id);
  const [method, type] = patch ? ["PATCH", "PetUpdated"] : ["DELETE", "PetRemoved"];
  const condition = { "if-match": headers.get("etag") };
  const outcome = await write(method, path, patch, condition).catch((error) => error);
  if (outcome.status === 412) return change(shown, patch);
  if (!outcome.headers) throw outcome;
  // If the list has another one by now, the stream was faster.
  if (state.pets.get(now.id) === listed) update([{ type, data: outcome.body ?? now }]);
  return null;
}
