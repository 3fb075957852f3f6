// The page: it draws what `catalogue.js` knows, and turns what the reader does into calls of it.
import * as catalogue from "./catalogue.js";

const { attempt, HOUR_MS, KINDS, set, state, STATUSES } = catalogue;
const { html, render } = globalThis.htmPreact;
const MARGIN_ROWS = 8;
const EVENTS_SHOWN = 50;
const CHANGES = { available: "became available", pending: "became pending", sold: "was sold" };
const TABS = ["", ...Object.keys(STATUSES)];
const rowHeight = () => innerWidth < 640 ? 104 : 60;
const labelOf = (status) => STATUSES[status] ?? "No status";
const options = () => TABS.map((it) => html`<option value=${it}>${labelOf(it)}</option>`);
const timeOf = (time) => new Date(time).toLocaleTimeString([], { timeStyle: "short" });
const dialog = () => document.querySelector("dialog");

state.draw = () => {
  const { shift } = state;
  state.shift = 0;
  render(App(), document.body);
  if (shift) scrollBy(0, shift * rowHeight());
};
addEventListener("resize", state.draw);
addEventListener("scroll", () => {
  state.draw();
  if (document.documentElement.scrollHeight - scrollY < 2 * innerHeight) catalogue.loadMore();
});
addEventListener("hashchange", start);
start();

/** Opens the store with the key of this tab, or with the one in the address, which is removed. */
function start() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key) sessionStorage.apiKey = key;
  history.replaceState(null, "", location.pathname + location.search);
  state.draw();
  if (sessionStorage.apiKey) catalogue.open();
}

/** Handles a form: gives its fields to `action`. */
function submit(action) {
  return (event) => {
    event.preventDefault();
    action(Object.fromEntries(new FormData(event.target)));
  };
}

function App() {
  const { connection, isOpen, message, next, question } = state;
  return html`
    ${isOpen ? Page() : KeyForm()}
    <footer>
      <p role="status"><b>${connection}</b> ${message}</p>
      ${isOpen && next && html`<button onClick=${catalogue.loadMore}>Load more</button>`}
    </footer>
    <dialog aria-labelledby="title">
      ${question && html`<h2 id="title">${question.title}</h2>${question.content()}`}
    </dialog>`;
}

function KeyForm() {
  const openWith = ({ key }) => {
    // A key is often pasted with its scheme.
    sessionStorage.apiKey = key.replaceAll(/^\s*bearer\s+|[^!-~]/gi, "");
    catalogue.open();
  };
  return html`
    <form class="card" onSubmit=${submit(openWith)}>
      <h1>Animal Store</h1>
      <p>See the animals, sell one, and watch what happens. The key stays in this tab.</p>
      <label>API key <input name="key" type="password" autocomplete="off" autofocus /></label>
      <button class="primary">Open</button> <a href="docs">API reference</a>
    </form>`;
}

function Page() {
  const onFilter = ({ target }) => attempt(() => catalogue.load({ categoryId: target.value.trim() }));
  return html`
    <header>
      <h1>Animal Store</h1> <a href="docs">API reference</a>
      <button onClick=${() => catalogue.close()}>Close</button>
    </header>
    <main>
      <section>
        <div class="tools">
          <div role="tablist" onKeyDown=${onTabKey}>${TABS.map(Tab)}</div>
          <input aria-label="Filter by category" placeholder="Filter by category" onInput=${onFilter} />
          ${state.mayWrite && html`<button class="primary" onClick=${add}>Add an animal</button>`}
        </div>
        ${Animals()}
      </section>
      <aside>
        <h2>Last 24 hours</h2> ${Day()}
        <h2>Last events</h2> ${Events(state.events.slice(0, EVENTS_SHOWN))}
      </aside>
    </main>`;
}

function Tab(status) {
  const isChosen = status === state.filter.status;
  return html`
    <button role="tab" id="tab-${status}" aria-selected=${`${isChosen}`} aria-controls="animals"
      tabindex=${isChosen ? 0 : -1} onClick=${() => attempt(() => catalogue.load({ status }))}>
      ${STATUSES[status] ?? "All"} <b>${state.counts[status]?.toLocaleString()}</b>
    </button>`;
}

function onTabKey({ key, target }) {
  const { nextSibling: ArrowRight, previousSibling: ArrowLeft } = target;
  const tab = { ArrowRight, ArrowLeft }[key];
  tab?.click();
  tab?.focus();
}

/** The list. Only the rows in view are drawn, and those that have the focus or are edited. */
function Animals() {
  const { counts, edits, filter, next, order } = state;
  const height = rowHeight();
  const top = document.getElementById("rows")?.getBoundingClientRect().top ?? 0;
  const first = Math.floor(-top / height);
  const last = first + innerHeight / height;
  state.firstRow = top < 0 ? first : undefined;
  const focused = Number(document.activeElement.closest("[data-id]")?.dataset.id);
  const rows = order.map((id, row) => ({ id, row })).filter(({ id, row }) =>
    (row > first - MARGIN_ROWS && row < last + MARGIN_ROWS) || edits.has(id) || id === focused);
  const total = filter.categoryId === "" ? counts[filter.status] : -1;
  return html`
    <div role="tabpanel" id="animals" aria-labelledby="tab-${filter.status}">
      <ul id="rows" style=${{ height: `${order.length * height}px` }}>${rows.map(({ id, row }) => html`
        <li key=${id} data-id=${id} style=${{ top: `${row * height}px`, height: `${height}px` }}
          aria-posinset=${row + 1} aria-setsize=${next ? total : order.length}>
          ${edits.has(id) ? Edit(edits.get(id)) : Animal(state.pets.get(id))}
        </li>`)}
      </ul>
      ${counts[""] === 0 ? html`
        <p>The store is empty. Its first animal appears here, and in every open window, at once.</p>
        ${state.mayWrite && html`<button onClick=${add}>Add the first animal</button>`}`
      : order.length === 0 && html`<p>No animal is like that.</p>`}
    </div>`;
}

function Animal(pet) {
  const { id, name, categoryId, status = "" } = pet;
  const shown = state.busy.get(id)?.status ?? status;
  const onStatus = ({ target }) => alter(pet, { status: target.value || null });
  const onEdit = () => refocus(id, set({ edits: state.edits.set(id, pet) }));
  const onRemove = async () =>
    await ask(`Remove ${name}?`, "It cannot be brought back.", "Remove", "Keep") && alter(pet);
  return html`
    <button class="name" onClick=${() => showDetail(pet)}>${name}</button>
    <span>Category ${categoryId}</span>
    ${state.mayWrite ? html`
      <select aria-label="Status" class=${shown} value=${shown} onChange=${onStatus}>${options()}</select>
      <button class="edit" onClick=${onEdit}>Edit</button>
      <button onClick=${onRemove}>Remove</button>`
    : html`<span class=${status}>${labelOf(status)}</span>`}`;
}

/** Inputs for the name and the category of an animal, which was `base` when this began. */
function Edit(base) {
  const end = () => refocus(base.id, set({ hasEnded: state.edits.delete(base.id) }));
  const save = (fields) => {
    const changes = Object.entries(fields).filter(([field, value]) => value !== base[field]);
    return changes.length === 0 ? end() : alter(base, Object.fromEntries(changes));
  };
  return html`
    <form onSubmit=${submit(save)} onKeyDown=${({ key }) => key === "Escape" && end()}>
      <input name="name" aria-label="Name" defaultValue=${base.name} />
      <input name="categoryId" aria-label="Category" defaultValue=${base.categoryId} />
      <button class="primary">Save</button> <button type="button" onClick=${end}>Cancel</button>
    </form>`;
}

/** If the control that had the focus is gone, moves the focus to its row, or to the next one. */
function refocus(id) {
  const row = [...document.querySelectorAll("[data-id]")].find((it) => Number(it.dataset.id) <= id);
  if (document.activeElement !== document.body) return;
  (row ?? document).querySelector("input, .edit").focus({ preventScroll: true });
}

/** Changes an animal, or removes it if `patch` is absent. */
async function alter(pet, patch) {
  if (state.busy.has(pet.id)) return;
  set({ busy: state.busy.set(pet.id, patch ?? {}) });
  const isDone = await attempt(() => catalogue.change(pet, patch, (now) => ask(
    "Somebody else changed this animal",
    `It is now ${now.name}, category ${now.categoryId}, ${labelOf(now.status).toLowerCase()}.`,
    patch ? "Change anyway" : "Remove anyway",
    "Keep theirs",
  )));
  state.busy.delete(pet.id);
  if (isDone !== undefined) state.edits.delete(pet.id);
  set(isDone && { message: `${pet.name} was ${patch ? "changed" : "removed"}` });
  refocus(pet.id);
}

/** Shows a dialog. Resolves to the value of the button that closes it. */
function show(title, content) {
  set({ question: { title, content }, message: "" });
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
  const keys = {};
  const save = async ({ status, ...pet }) => {
    if (status !== "") pet.status = status;
    // A second click sends the same key, so it adds nothing.
    const key = keys[JSON.stringify(pet)] ??= catalogue.newKey();
    if (!await attempt(() => catalogue.write("POST", "pets", pet, {}, key))) return;
    dialog().close();
    set({ message: `${pet.name} was added` });
  };
  show("Add an animal", () => html`
    <form onSubmit=${submit(save)}>
      <label>Name <input name="name" autocomplete="off" /></label>
      <label>Category <input name="categoryId" inputmode="numeric" autocomplete="off" /></label>
      <label>Status <select name="status">${options()}</select></label>
      <p role="alert">${state.message}</p>
      <button class="primary">Save</button>
      <button type="button" onClick=${() => dialog().close()}>Cancel</button>
    </form>`);
}

function showDetail(pet) {
  let read, last;
  show(pet.name, () => {
    const events = state.events.filter(({ id, data }) => data.id === pet.id && id > state.opened);
    // Each event of the animal changes its ETag.
    const reload = async () => read = await catalogue.request(`pets/${pet.id}`);
    if (!read || last !== events[0]) attempt(reload);
    [last, read] = [events[0], read ?? {}];
    return html`
      <p>Id ${pet.id}, category ${read.body?.categoryId}, ${labelOf(read.body?.status).toLowerCase()}</p>
      <p>ETag ${read.headers?.get("etag")}</p>
      <h3>Since this page was opened</h3>
      ${events.length === 0 ? html`<p>Nothing has changed.</p>` : Events(events)}
      <form method="dialog"><button>Done</button></form>`;
  });
}

const Events = (events) => html`
  <ol>${events.map(({ id, time, type, data }) => html`
    <li key=${id}><time datetime=${time}>${timeOf(time)}</time> ${sentenceOf(type, data)}</li>`)}
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
  const heights = (kinds) => hours.map((counts) => sum(counts.slice(0, kinds)));
  const most = Math.max(1, ...heights(3));
  const bars = (kinds) => heights(kinds).map((it, x) => `M${x * 10 + 5} 60v${-60 * it / most}`);
  const words = Object.values(KINDS).map((word, kind) => `${sum(hours.map((it) => it[kind]))} ${word}`);
  // The bars of all kinds, then those of two kinds in front of them, then those of one.
  return html`
    <svg role="img" viewBox="0 0 240 60" preserveAspectRatio="none"
      aria-label="Events of each hour, at most ${most}: ${words.join(", ")}">
      ${[3, 2, 1].map((kinds) => html`<path class="kind-${kinds}" d=${bars(kinds).join("")} />`)}
    </svg>
    <p>${words.map((word, kind) => html`<span class="kind-${kind + 1}">${word}</span> `)}</p>
    ${state.cutAt && html`<p>There were too many to count those after ${timeOf(state.cutAt)}.</p>`}`;
}
