// The page: it draws what `store.js` knows, and turns what the reader does into calls of it.
import { HOUR_MS, KINDS, set, state, TABS } from "./store.js";
import { attempt, change, load, loadMore, newKey, open, request, restart, write } from "./store.js";

const { html, render } = globalThis.htmPreact;
const { body } = document;
const EVENTS_SHOWN = 50;
const CHANGES = { available: "became available", pending: "became pending", sold: "was sold" };
const LABELS = { ...TABS, "": "No status" };
const textOf = ({ name, categoryId, status = "" }) =>
  `${name}, category ${categoryId}, ${LABELS[status].toLowerCase()}`;
const options = () => Object.keys(LABELS).map((it) => html`<option value=${it}>${LABELS[it]}<//>`);
const timeOf = new Intl.DateTimeFormat([], { timeStyle: "short" }).format;
const SIBLINGS = { ArrowRight: "nextSibling", ArrowLeft: "previousSibling" };
const onTabKey = ({ key, target: { [SIBLINGS[key]]: tab } }) => tab?.focus(tab.click());
const list = (filter) => attempt(() => load(filter));
const dialog = () => document.querySelector("dialog");
const ask = (title, text, ...buttons) => show(title, () => html`<p>${text}</p>`, ...buttons);
const onFields = (action) => (event) =>
  action(Object.fromEntries(new FormData(event.target)), event.preventDefault());

/** Draws the page. If the control that had the focus is gone, another one in its row gets it. */
state.draw = () => {
  const row = document.activeElement.closest("[data-id]");
  render(App(), body);
  const isLost = document.activeElement === body;
  if (isLost) row?.querySelector("input, button").focus({ preventScroll: true });
};
for (const type of ["resize", "scroll"]) addEventListener(type, state.draw);
addEventListener("scroll", () => scrollY > body.scrollHeight - 2 * innerHeight && loadMore());
addEventListener("hashchange", () => location.reload());
addEventListener("DOMContentLoaded", start);

/** Opens the store with the key of this tab, or with the one in the address, which is removed. */
function start() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key") ?? sessionStorage.apiKey;
  state.message = history.state?.message;
  history.replaceState(null, "", location.pathname + location.search);
  key ? open(key) : state.draw();
}

const App = () => html`
  <header>
    <h1>Animal Store</h1> <a href="docs">API reference</a>
    ${state.opened && html`<button onClick=${() => restart()}>Close</button>`}
  </header>
  ${state.opened ? Page() : KeyForm()}
  <footer>
    <p role="status"><b>${state.connection}</b> ${state.message}</p>
    ${state.next && html`<button onClick=${loadMore}>Load more</button>`}
  </footer>
  <dialog aria-labelledby="title">${state.question?.()}</dialog>`;

const KeyForm = () => html`
  <main class="card"><form onSubmit=${onFields(({ key }) => restart("", key))}>
    <p>See the animals, sell one, and watch what happens. The key stays in this tab.</p>
    <label>API key <input name="key" type="password" autocomplete="off" autofocus /></label>
    <button class="primary">Open</button>
  </form></main>`;

const Page = () => html`
  <main>
    <section>
      <div role="tablist" onKeyDown=${onTabKey}>${Object.keys(TABS).map(Tab)}</div>
      <input aria-label="Filter by category" placeholder="Filter by category"
        value=${state.filter.categoryId}
        onInput=${({ target }) => list({ categoryId: target.value.trim() })} size="14" />
      ${state.mayWrite && html`<button class="primary" onClick=${add}>Add an animal</button>`}
      ${Animals()}
    </section>
    <aside tabindex="0">
      <h2>Last 24 hours</h2> ${Day()}
      <h2>Last events</h2> ${Events(state.events.slice(0, EVENTS_SHOWN))}
    </aside>
  </main>`;

const Tab = (it) => html`
  <button role="tab" id="tab-${it}" aria-controls="animals" onClick=${() => list({ status: it })}
    aria-selected=${it === state.filter.status} tabindex=${it === state.filter.status ? 0 : -1}>
    ${TABS[it]} <b>${state.counts[it]?.toLocaleString()}</b>
  </button>`;

/** The list. Only the rows in view are drawn, and those that have the focus or are edited. */
function Animals() {
  const { counts, edits, filter, next, order, pets } = state;
  const height = state.rowHeight = innerWidth < 1088 ? 112 : 60;
  const top = document.getElementById("rows")?.getBoundingClientRect().top ?? 0;
  const first = state.firstRow = Math.floor(-top / height);
  const inView = innerHeight / height;
  const focused = document.activeElement.closest("[data-id]")?.dataset.id;
  const isDrawn = (id, row) =>
    Math.abs(row - first - inView / 2) < inView || edits.has(id) || `${id}` === focused;
  const Row = (id, row) => html`
    <li key=${id} data-id=${id} style="top: ${row * height}px; height: ${height}px"
      aria-posinset=${row + 1} aria-setsize=${next ? -1 : order.length}>
      ${edits.has(id) ? Edit(edits.get(id)) : Animal(pets.get(id))}
    </li>`;
  return html`
    <div role="tabpanel" id="animals" aria-labelledby="tab-${filter.status}">
      <ul id="rows" style="height: ${order.length * height}px">
        ${order.flatMap((id, row) => isDrawn(id, row) ? Row(id, row) : [])}
      </ul>
      ${order.length === 0 && html`<p>No ${counts[""] === 0 ? "animals yet" : "such animals"}.</p>`}
    </div>`;
}

function Animal(pet) {
  const { id, name, categoryId, status = "" } = pet;
  const { status: next = status } = state.busy.get(id) ?? {};
  const onPick = ({ target }) => alter(pet, { status: target.value || null });
  const onEdit = () => set({ edits: state.edits.set(id, pet) });
  const onRemove = () =>
    ask(`Remove ${name}?`, "It cannot be brought back.", "Keep", "Remove", () => alter(pet));
  return html`
    <button class="name" onClick=${() => showDetail(pet)}>${name}</button>
    <span>Category ${categoryId}</span>
    ${state.mayWrite ? html`
      <select aria-label="Status" class=${status} value=${next} onChange=${onPick}>${options()}<//>
      <button onClick=${onEdit}>Edit<//> <button onClick=${onRemove}>Remove<//>`
    : html`<span class=${status}>${LABELS[status]}</span>`}`;
}

/** Inputs for the name and the category of an animal, which was `base` when this began. */
function Edit(base) {
  const end = () => state.draw(state.edits.delete(base.id));
  return html`
    <form onSubmit=${onFields((fields) => alter(base, fields))}
      onKeyDown=${({ key }) => key === "Escape" && end()}>
      <input name="name" aria-label="Name" defaultValue=${base.name} />
      <input name="categoryId" aria-label="Category" defaultValue=${base.categoryId} />
      <button class="primary">Save</button> <button type="button" onClick=${end}>Cancel</button>
    </form>`;
}

/** Changes an animal, or removes it if `patch` is absent. If it is not so any more, asks. */
async function alter(pet, patch) {
  if (state.busy.has(pet.id)) return;
  set({ busy: state.busy.set(pet.id, patch ?? {}) });
  const now = await attempt(() => change(pet, patch).finally(() => state.busy.delete(pet.id)));
  if (now === undefined) return;
  state.edits.delete(pet.id);
  set({ message: now ? "" : `${pet.name} was ${patch ? "changed" : "removed"}` });
  if (now) ask("Somebody else changed this animal", `It is now ${textOf(now)}.`, "Keep theirs",
    patch ? "Change anyway" : "Remove anyway", () => alter(now, patch));
}

/** Shows a dialog. Its button `yes` submits it to `action`, and its button `no` closes it. */
function show(title, content, no, yes, action) {
  const question = () => html`
    <form method="dialog" onSubmit=${action}>
      <h2 id="title">${title}</h2> ${content()}
      ${yes && html`<button class="primary">${yes}</button> `}
      <button type="button" onClick=${() => dialog().close()}>${no}</button>
    </form>`;
  set({ question, message: "" });
  dialog().onclose = () => set({ question: undefined });
  dialog().showModal();
}

function add() {
  // A second click sends the same key, so it adds nothing.
  const headers = { "idempotency-key": newKey() };
  const save = async (fields) => {
    const { question } = state;
    const pet = { ...fields, status: fields.status || undefined };
    if (!await attempt(() => write("POST", "pets", pet, headers))) return;
    // The reader may have opened another dialog meanwhile.
    if (question === state.question) dialog().close();
    set({ message: `${pet.name} was added` });
  };
  show("Add an animal", () => html`
    <label>Name <input name="name" autocomplete="off" /></label>
    <label>Category <input name="categoryId" autocomplete="off" /></label>
    <label>Status <select name="status">${options()}</select></label>
    <p role="alert">${state.message}</p>`, "Cancel", "Save", onFields(save));
}

function showDetail(pet) {
  let [read, last] = [{ body: pet }, "none"];
  show(pet.name, () => {
    const events = state.events.filter(({ id, data }) => data.id === pet.id && id > state.opened);
    // Each event of the animal changes its ETag.
    if (last !== events[0]) attempt(async () => read = await request(`pets/${pet.id}`));
    last = events[0];
    return html`
      <p>Id ${pet.id}: ${textOf(read.body)}<br />ETag ${read.headers?.get("etag")}</p>
      <h3>Changes since this page was opened: ${events.length}</h3> ${Events(events)}`;
  }, "Done");
}

const Events = (events) => html`<ol>${events.map(({ id, time, type, data }) => html`
  <li key=${id}><time>${timeOf(new Date(time))}</time> ${sentenceOf(type, data)}</li>`)}</ol>`;

function sentenceOf(type, { id, name, categoryId, status, previous }) {
  const changes = previous ? [] : [`was ${KINDS[type]}`];
  if (previous && "status" in previous) changes.push(CHANGES[status] ?? "has no status any more");
  if (previous?.name) changes.push(`was renamed ${name}`);
  if (previous?.categoryId) changes.push(`moved to category ${categoryId}`);
  return `${previous?.name ?? name} (${id}) ${changes.join(" and ")}`;
}

/** How many events of each kind each of the last 24 hours had. */
function Day() {
  const first = Math.floor(Date.now() / HOUR_MS) - 23;
  const hours = Array.from({ length: 24 }, (_, x) => state.hours[first + x] ?? [0, 0, 0]);
  const most = Math.max(1, ...hours.flat());
  const barOf = (count, x) => `M${x} 60v${-60 * count / most}`;
  const barsOf = (kind) => hours.map((it, x) => barOf(it[kind], 10 * x + 3 * kind + 2)).join("");
  const totalOf = (kind) => hours.reduce((sum, it) => sum + it[kind], 0).toLocaleString();
  return html`
    <svg role="img" aria-labelledby="day" viewBox="0 0 240 60" preserveAspectRatio="none">
      ${[0, 1, 2].map((kind) => html`<path class="kind-${kind}" d=${barsOf(kind)} />`)}
    </svg>
    <p id="day"><time>${timeOf(first * HOUR_MS)}</time> ${Object.values(KINDS).map((word, kind) =>
      html`<span class="kind-${kind}">${totalOf(kind)} ${word}</span> `)} <time>now</time></p>`;
}
