// The page: it draws what `store.js` knows, and turns what the reader does into calls of it.
import { HOUR_MS, KINDS, set, state, TABS } from "./store.js";
import { attempt, change, close, load, loadMore, newKey, open, request, write } from "./store.js";

const { html, render } = globalThis.htmPreact;
const MARGIN_ROWS = 8;
const EVENTS_SHOWN = 50;
const CHANGES = { available: "became available", pending: "became pending", sold: "was sold" };
const LABELS = { ...TABS, "": "No status" };
const options = () => Object.keys(LABELS).map((it) => html`<option value=${it}>${LABELS[it]}<//>`);
const clock = new Intl.DateTimeFormat([], { timeStyle: "short" });
const list = (filter) => attempt(() => load(filter));
const onFilter = ({ target }) => list({ categoryId: target.value.trim() });
const dialog = () => document.querySelector("dialog");
/** Handles a form: gives its fields to `action`. */
const submit = (action) => (event) =>
  action(Object.fromEntries(new FormData(event.target)), event.preventDefault());

state.draw = () => render(App(), document.body);
addEventListener("resize", state.draw);
addEventListener("scroll", () => {
  state.draw();
  if (document.documentElement.scrollHeight - scrollY < 2 * innerHeight) loadMore();
});
addEventListener("hashchange", start);
addEventListener("DOMContentLoaded", start);

/** Opens the store with the key of this tab, or with the one in the address, which is removed. */
function start() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key") ?? sessionStorage.apiKey;
  history.replaceState(null, "", location.pathname + location.search);
  state.draw();
  if (key) open(key);
}

const App = () => html`
  ${state.isOpen ? Page() : KeyForm()}
  <footer>
    <p role="status"><b>${state.connection}</b> ${state.message}</p>
    ${state.next && html`<button onClick=${loadMore}>Load more</button>`}
  </footer>
  <dialog aria-labelledby="title">${state.question?.()}</dialog>`;

const KeyForm = () => html`
  <main class="card"><form onSubmit=${submit(({ key }) => open(key))}>
    <h1>Animal Store</h1>
    <p>See the animals, sell one, and watch what happens. The key stays in this tab.</p>
    <label>API key <input name="key" type="password" autocomplete="off" autofocus /></label>
    <button class="primary">Open</button> <a href="docs">API reference</a>
  </form></main>`;

const Page = () => html`
  <header>
    <h1>Animal Store</h1> <a href="docs">API reference</a>
    <button onClick=${() => close()}>Close</button>
  </header>
  <main>
    <section>
      <div role="tablist" onKeyDown=${onTabKey}>${Object.keys(TABS).map(Tab)}</div>
      <input aria-label="Filter by category" placeholder="Filter by category"
        value=${state.filter.categoryId} onInput=${onFilter} />
      ${state.mayWrite && html`<button class="primary" onClick=${add}>Add an animal</button>`}
      ${Animals()}
    </section>
    <aside tabindex="0">
      <h2>Last 24 hours</h2> ${Day()}
      <h2>Last events</h2> ${Events(state.events.slice(0, EVENTS_SHOWN))}
    </aside>
  </main>`;

function Tab(status) {
  const isChosen = status === state.filter.status;
  return html`
    <button role="tab" id="tab-${status}" aria-controls="animals" aria-selected=${`${isChosen}`}
      tabindex=${isChosen ? 0 : -1} onClick=${() => list({ status })}>
      ${TABS[status]} <b>${state.counts[status]?.toLocaleString()}</b>
    </button>`;
}

function onTabKey({ key, target: { nextSibling, previousSibling } }) {
  const tab = { ArrowRight: nextSibling, ArrowLeft: previousSibling }[key];
  tab?.focus(tab.click());
}

/** The list. Only the rows in view are drawn, and those that have the focus or are edited. */
function Animals() {
  const { counts, edits, filter, next, order } = state;
  const height = state.rowHeight = innerWidth < 960 ? 112 : 60;
  const top = document.getElementById("rows")?.getBoundingClientRect().top ?? 0;
  const first = state.firstRow = Math.floor(-top / height);
  const focused = document.activeElement.closest("[data-id]")?.dataset.id;
  const last = first + innerHeight / height + MARGIN_ROWS;
  const rows = order.map((id, row) => ({ id, row }))
    .filter(({ id, row }) =>
      row > first - MARGIN_ROWS && row < last || edits.has(id) || `${id}` === focused);
  const total = filter.categoryId === "" ? counts[filter.status] : -1;
  const note = counts[""] === 0 ? "The store is empty: add its first animal." : "No such animal.";
  return html`
    <div role="tabpanel" id="animals" aria-labelledby="tab-${filter.status}">
      <ul id="rows" style="height: ${order.length * height}px">${rows.map(({ id, row }) => html`
        <li key=${id} data-id=${id} style="top: ${row * height}px; height: ${height}px"
          aria-posinset=${row + 1} aria-setsize=${next ? total : order.length}>
          ${edits.has(id) ? Edit(edits.get(id)) : Animal(state.pets.get(id))}
        </li>`)}
      </ul>
      ${order.length === 0 && html`<p>${note}</p>`}
    </div>`;
}

function Animal(pet) {
  const { id, name, categoryId, status = "" } = pet;
  const { status: shown = status } = state.busy.get(id) ?? {};
  const onStatus = ({ target }) => alter(pet, { status: target.value || null });
  const onEdit = () => refocus(id, set({ edits: state.edits.set(id, pet) }));
  const onRemove = async () =>
    await ask(`Remove ${name}?`, "It cannot be brought back.", "Remove", "Keep") && alter(pet);
  return html`
    <button class="name" onClick=${() => showDetail(pet)}>${name}</button>
    <span>Category ${categoryId}</span>
    ${state.mayWrite ? html`
      <select aria-label="Status" class=${status} value=${shown ?? ""} onChange=${onStatus}>
        ${options()}
      </select>
      <button class="edit" onClick=${onEdit}>Edit<//> <button onClick=${onRemove}>Remove<//>`
    : html`<span class=${status}>${LABELS[status]}</span>`}`;
}

/** Inputs for the name and the category of an animal, which was `base` when this began. */
function Edit(base) {
  const end = () => refocus(base.id, set({ hasEnded: state.edits.delete(base.id) }));
  return html`
    <form onSubmit=${submit((fields) => alter(base, fields))}
      onKeyDown=${({ key }) => key === "Escape" && end()}>
      <input name="name" aria-label="Name" defaultValue=${base.name} />
      <input name="categoryId" aria-label="Category" defaultValue=${base.categoryId} />
      <button class="primary">Save</button> <button type="button" onClick=${end}>Cancel</button>
    </form>`;
}

/** If the control that had the focus is gone, moves the focus to its row, or to the next one. */
function refocus(id) {
  const row = [...document.querySelectorAll("[data-id]")].find((it) => it.dataset.id <= id);
  const control = (row ?? document).querySelector("input, .edit");
  if (document.activeElement === document.body) control.focus({ preventScroll: true });
}

/** Changes an animal, or removes it if `patch` is absent. */
async function alter(pet, patch) {
  if (state.busy.has(pet.id)) return;
  set({ busy: state.busy.set(pet.id, patch ?? {}) });
  const onConflict = (now) => ask("Somebody else changed this animal", `It is now ${textOf(now)}.`,
    patch ? "Change anyway" : "Remove anyway", "Keep theirs");
  const isDone = await attempt(() => change(pet, patch, onConflict));
  state.busy.delete(pet.id);
  if (isDone !== undefined) state.edits.delete(pet.id);
  set(isDone && { message: `${pet.name} was ${patch ? "changed" : "removed"}` });
  refocus(pet.id);
}

/** Shows a dialog. Resolves to the value of the button that closes it. */
function show(title, content) {
  set({ question: () => html`<h2 id="title">${title}</h2>${content()}`, message: "" });
  dialog().returnValue = "";
  dialog().showModal();
  return new Promise((resolve) => {
    dialog().onclose = () => resolve(dialog().returnValue, set({ question: undefined }));
  });
}

const ask = (title, text, yes, no) => show(title, () => html`
  <form method="dialog">
    <p>${text}</p>
    <button class="primary" value="yes">${yes}</button> <button value="">${no}</button>
  </form>`);

function add() {
  // A second click sends the same key, so it adds nothing.
  const key = newKey();
  const close = () => dialog().close();
  const save = async ({ status, ...fields }) => {
    const pet = status === "" ? fields : { ...fields, status };
    const { question } = state;
    if (!await attempt(() => write("POST", "pets", pet, {}, key))) return;
    // The reader may have opened another dialog meanwhile.
    if (question === state.question) close();
    set({ message: `${pet.name} was added` });
  };
  show("Add an animal", () => html`
    <form onSubmit=${submit(save)}>
      <label>Name <input name="name" autocomplete="off" /></label>
      <label>Category <input name="categoryId" autocomplete="off" /></label>
      <label>Status <select name="status">${options()}</select></label>
      <p role="alert">${state.message}</p>
      <button class="primary">Save</button> <button type="button" onClick=${close}>Cancel</button>
    </form>`);
}

const textOf = ({ name, categoryId, status = "" }) =>
  `${name}, category ${categoryId}, ${LABELS[status].toLowerCase()}`;

function showDetail(pet) {
  let read, last;
  show(pet.name, () => {
    const events = state.events.filter(({ id, data }) => data.id === pet.id && id > state.opened);
    // Each event of the animal changes its ETag.
    if (!read || last !== events[0]) attempt(async () => read = await request(`pets/${pet.id}`));
    [last, read] = [events[0], read ?? { body: pet }];
    return html`
      <p>Id ${pet.id}: ${textOf(read.body)}</p>
      <p>ETag ${read.headers?.get("etag")}</p>
      <h3>Since this page was opened</h3>
      ${events.length === 0 ? html`<p>Nothing has changed.</p>` : Events(events)}
      <form method="dialog"><button>Done</button></form>`;
  });
}

const Events = (events) => html`
  <ol>${events.map(({ id, time, type, data }) => html`
    <li key=${id}><time>${clock.format(new Date(time))}</time> ${sentenceOf(type, data)}</li>`)}
  </ol>`;

function sentenceOf(type, { id, name, categoryId, status, previous }) {
  const changes = previous ? [] : [`was ${KINDS[type]}`];
  if (previous && "status" in previous) changes.push(CHANGES[status] ?? "has no status any more");
  if (previous?.name) changes.push(`was renamed ${name}`);
  if (previous?.categoryId) changes.push(`moved to category ${categoryId}`);
  return `${previous?.name ?? name} (${id}) ${changes.join(" and ")}`;
}

/** The events of each of the last 24 hours. */
function Day() {
  const start = Math.floor(Date.now() / HOUR_MS) - 23;
  const hours = Array.from({ length: 24 }, (_, index) => state.hours[start + index] ?? [0, 0, 0]);
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const most = Math.max(1, ...hours.map(sum));
  const barOf = (counts, x) => `M${x * 10 + 5} 60v${-60 * sum(counts) / most}`;
  const bars = (kinds) => hours.map((counts, x) => barOf(counts.slice(0, kinds), x)).join("");
  const totalOf = (kind) => sum(hours.map((counts) => counts[kind])).toLocaleString();
  const words = Object.values(KINDS).map((word, kind) => `${totalOf(kind)} ${word}`);
  // The bars of all kinds, then those of two kinds in front of them, then those of one.
  return html`
    <svg role="img" viewBox="0 0 240 60" preserveAspectRatio="none"
      aria-label="Events of each hour, at most ${most}: ${words.join(", ")}">
      ${[3, 2, 1].map((kinds) => html`<path class="kind-${kinds}" d=${bars(kinds)} />`)}
    </svg>
    <p>${words.map((it, kind) => html`<span class="kind-${kind + 1}">${it}</span> `)}</p>`;
}
