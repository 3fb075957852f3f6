// The page: it draws what `catalogue.js` knows, and turns what the reader does into calls of it.

import * as catalogue from "./catalogue.js";
import { newIdempotencyKey } from "./client.js";

const { attempt, HOUR_MS, say, state, STATUSES } = catalogue;
const { html: view, render, useEffect, useLayoutEffect, useRef, useState } = globalThis.htmPreact;
const MARGIN_ROWS = 8;
const EVENTS_SHOWN = 50;
const KINDS = { PetCreated: "added", PetUpdated: "changed", PetRemoved: "removed" };
const SET_STATUS = { available: "became available", pending: "became pending", sold: "was sold" };

const rowHeight = () => innerWidth < 640 ? 104 : 60;
const labelOf = (status) => STATUSES[status] ?? "No status";

/** The control that last had the focus, and the id of its row. */
let focused = {};

state.draw = () => {
  const { shift = 0 } = state;
  state.shift = 0;
  render(view`<${App} />`, document.body);
  if (shift !== 0) scrollBy(0, shift * rowHeight());
  if (focused.control?.isConnected === false) focusNext();
};

/** Moves the focus of a control that is gone to the same row, or to the next one. */
function focusNext() {
  const rows = [...document.querySelectorAll("[data-id]")];
  const row = rows.find(({ dataset }) => Number(dataset.id) <= focused.id) ?? rows.at(-1);
  const kind = focused.control.localName === "select" ? "select" : ".edit";
  (row?.querySelector("input") ?? row?.querySelector(kind) ?? document.querySelector(".add"))
    ?.focus({ preventScroll: true });
}

addEventListener("focusin", ({ target: control }) => {
  focused = { control, id: Number(control.closest("[data-id]")?.dataset.id) };
});
addEventListener("pointerdown", () => focused = {}, { capture: true });
addEventListener("resize", state.draw);
addEventListener("scroll", () => {
  state.draw();
  const isNearEnd = document.documentElement.scrollHeight - scrollY < 2 * innerHeight;
  if (state.isOpen && state.next && isNearEnd) catalogue.loadMore();
});
addEventListener("hashchange", start);
setInterval(state.draw, 60_000);
start();

/** Opens the store with the key in the address, which is removed from it, or with that of this tab. */
function start() {
  const key = new URLSearchParams(location.hash.slice(1)).get("key");
  if (key) sessionStorage.apiKey = key;
  history.replaceState(null, "", location.pathname + location.search);
  state.draw();
  if (sessionStorage.apiKey) catalogue.open();
}

function App() {
  const { connection, dialog, filter, isOpen, message, next, order } = state;
  const total = filter.categoryId === "" ? state.counts?.[filter.status]?.total : undefined;
  return view`
    ${isOpen ? view`<${Page} />` : view`<${KeyForm} />`}
    <footer>
      <p role="status"><b class=${
    connection === "Connected" && "good"
  }>${connection}</b> ${message}</p>
      ${
    isOpen && next && view`
        <span>${order.length.toLocaleString()}${total && ` of ${total.toLocaleString()}`}</span>
        <button onClick=${catalogue.loadMore}>Load more</button>`
  }
    </footer>
    ${dialog?.()}`;
}

function KeyForm() {
  const onSubmit = (event) => {
    event.preventDefault();
    const text = event.target.key.value;
    sessionStorage.apiKey = text.replace(/^\s*bearer\s+/i, "").replaceAll(/[^!-~]/g, "");
    catalogue.open();
  };
  return view`
    <main class="key"><form onSubmit=${onSubmit}>
      <h1>Animal Store</h1>
      <p>See the animals, sell one, and watch what happens. The key stays in this tab.</p>
      <label>API key <input name="key" type="password" autocomplete="off" autofocus /></label>
      <p><button class="primary">Open</button> <a href="docs">API reference</a></p>
    </form></main>`;
}

function Page() {
  return view`
    <header>
      <h1>Animal Store</h1> <a href="docs">API reference</a>
      <button title="Forget the key" onClick=${() => catalogue.close()}>Close</button>
    </header>
    <main>
      <section>
        <div class="tools">
          <div role="tablist" onKeyDown=${onTabKey}>${["", ...Object.keys(STATUSES)].map(tab)}</div>
          <input type="search" aria-label="Filter by category" placeholder="Filter by category"
            inputmode="numeric" onInput=${onFilter} />
          ${
    state.mayWrite && view`<button class="primary add" onClick=${add}>Add an animal</button>`
  }
        </div>
        <${Animals} />
      </section>
      <aside><${Day} /><${LastEvents} /></aside>
    </main>`;
}

function tab(status) {
  const isChosen = status === state.filter.status;
  return view`
    <button role="tab" id=${`tab-${status}`} aria-selected=${
    String(isChosen)
  } aria-controls="animals"
      tabindex=${isChosen ? 0 : -1} onClick=${() => isChosen || catalogue.setFilter({ status })}>
      ${STATUSES[status] ?? "All"} <b>${state.counts[status]?.total.toLocaleString()}</b>
    </button>`;
}

function onTabKey({ key, target }) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (step === undefined) return;
  const tabs = [...target.parentElement.children];
  const next = tabs.at((tabs.indexOf(target) + step) % tabs.length);
  next.focus();
  next.click();
}

let filterTimer;
function onFilter({ target }) {
  clearTimeout(filterTimer);
  const filter = () => catalogue.setFilter({ categoryId: target.value.trim() });
  filterTimer = setTimeout(filter, 250);
}

/** The list. Only the rows in view are drawn, and those that have the focus or are edited. */
function Animals() {
  const { counts, edits, filter, isLoading, next, order, pets } = state;
  const height = rowHeight();
  const top = document.getElementById("rows")?.getBoundingClientRect().top ?? 0;
  const first = Math.floor(-top / height);
  state.firstRow = top < 0 ? first : undefined;
  const last = first + innerHeight / height + MARGIN_ROWS;
  const focusedId = Number(document.activeElement.closest("[data-id]")?.dataset.id);
  const isDrawn = (id, row) =>
    (row > first - MARGIN_ROWS && row < last) || edits.has(id) || id === focusedId;
  const size = next ? counts[filter.status]?.total ?? -1 : order.length;
  return view`
    <div role="tabpanel" id="animals" aria-labelledby=${`tab-${filter.status}`}>
      <ul id="rows" style=${{ height: `${order.length * height}px`, "--row": `${height}px` }}>
        ${
    order.flatMap((id, row) =>
      isDrawn(id, row)
        ? [view`
          <li key=${id} data-id=${id} aria-setsize=${filter.categoryId ? -1 : size} aria-posinset=${
          row + 1
        }
            aria-busy=${String(state.busy.has(id))} style=${{ top: `${row * height}px` }}>
            ${
          edits.has(id)
            ? view`<${Edit} base=${edits.get(id)} />`
            : view`<${Animal} pet=${pets.get(id)} />`
        }
          </li>`]
        : []
    )
  }
      </ul>
      ${order.length === 0 && view`<p class="empty">${isLoading ? "Loading …" : emptyNote()}</p>`}
    </div>`;
}

function emptyNote() {
  if (state.counts[""]?.total > 0) return "No animal is like that.";
  return view`<b>The store is empty.</b><br />Its first animal appears here, and in every open window, at once.
    ${state.mayWrite && view`<br /><button onClick=${add}>Add the first animal</button>`}`;
}

function Animal({ pet }) {
  const { id, name, categoryId, status = "" } = pet;
  const shown = state.busy.get(id)?.status ?? status;
  const onStatus = ({ target }) => alter(pet, { status: target.value || null });
  const onEdit = () => state.edits.set(id, pet) && state.draw();
  const onRemove = async () => {
    const text = "It cannot be brought back. Its history stays in the log.";
    if (await question(`Remove ${name}?`, text, "Remove", "Keep")) alter(pet);
  };
  return view`
    <button class="name" onClick=${() => showDetail(id, name)}>${name}</button>
    <span class="category">Category ${categoryId}</span>
    ${
    state.mayWrite
      ? view`
        <select aria-label="Status" class=${shown} value=${shown} onChange=${onStatus}>${options()}</select>
        <span><button class="edit" onClick=${onEdit}>Edit</button> <button onClick=${onRemove}>Remove</button></span>`
      : view`<span class=${status}>${labelOf(status)}</span>`
  }`;
}

const options = () =>
  ["", ...Object.keys(STATUSES)].map((it) => view`<option value=${it}>${labelOf(it)}</option>`);

/** Name and category of an animal as inputs. `base` is the animal as it was when this began. */
function Edit({ base }) {
  const end = () => state.edits.delete(base.id) && state.draw();
  const onSubmit = (event) => {
    event.preventDefault();
    // An input has no line breaks.
    const isNew = ([field, value]) => value !== base[field].replaceAll(/[\r\n]/g, "");
    const changes = [...new FormData(event.target)].filter(isNew);
    if (changes.length === 0) end();
    else alter(base, Object.fromEntries(changes));
  };
  return view`
    <form onSubmit=${onSubmit} onKeyDown=${({ key }) => key === "Escape" && end()}>
      <input name="name" aria-label="Name" autocomplete="off" defaultValue=${base.name} />
      <input name="categoryId" aria-label="Category" inputmode="numeric" defaultValue=${base.categoryId} />
      <span><button class="primary">Save</button> <button type="button" onClick=${end}>Cancel</button></span>
    </form>`;
}

/** Changes an animal, or removes it if `patch` is absent. */
async function alter(pet, patch) {
  const { busy, edits } = state;
  if (busy.has(pet.id)) return;
  busy.set(pet.id, patch ?? {});
  state.draw();
  const ask = ({ name, categoryId, status }) => {
    const text = `It is now ${name}, category ${categoryId}, ${labelOf(status).toLowerCase()}.`;
    const yes = patch ? "Change anyway" : "Remove anyway";
    return question("Somebody else changed this animal", text, yes, "Keep theirs");
  };
  const isDone = await attempt(() => catalogue.change(pet, patch, ask));
  busy.delete(pet.id);
  if (isDone !== undefined) edits.delete(pet.id);
  if (isDone) say(`${pet.name} was ${patch ? "changed" : "removed"}`);
  else state.draw();
}

/** Shows a dialog until it is closed. */
function show(title, content, onClose = () => {}) {
  const closed = ({ target }) => {
    state.dialog = undefined;
    state.draw();
    onClose(target.returnValue);
  };
  state.dialog = () => view`<${Dialog} title=${title} onClose=${closed}>${content()}<//>`;
  state.draw();
}

function Dialog({ title, children, onClose }) {
  const dialog = useRef();
  useLayoutEffect(() => dialog.current.showModal(), []);
  return view`
    <dialog ref=${dialog} aria-labelledby="title" onClose=${onClose}>
      <h2 id="title">${title}</h2>${children}
    </dialog>`;
}

/** Resolves to whether the reader says yes. */
function question(title, text, yes, no) {
  const content = () =>
    view`
    <p>${text}</p>
    <form method="dialog"><button class="primary" value="yes">${yes}</button> <button value="">${no}</button></form>`;
  return new Promise((resolve) => show(title, content, (answer) => resolve(answer === "yes")));
}

function add() {
  const intent = {};
  const onSubmit = async (event) => {
    event.preventDefault();
    const dialog = event.target.closest("dialog");
    const { status, ...pet } = Object.fromEntries(new FormData(event.target));
    if (status !== "") pet.status = status;
    const text = JSON.stringify(pet);
    // A second click sends the same key, and adds nothing.
    if (intent.text !== text) Object.assign(intent, { text, key: newIdempotencyKey() });
    const headers = { "idempotency-key": intent.key };
    if (!await attempt(() => catalogue.write("POST", "pets", pet, headers))) return;
    dialog.close();
    say(`${pet.name} was added`);
  };
  say("");
  show("Add an animal", () =>
    view`
    <form onSubmit=${onSubmit}>
      <label>Name <input name="name" autocomplete="off" /></label>
      <label>Category <input name="categoryId" inputmode="numeric" autocomplete="off" /></label>
      <label>Status <select name="status" defaultValue="available">${options()}</select></label>
      <p role="alert">${state.message}</p>
      <button class="primary">Save</button>
      <button type="button" onClick=${({ target }) =>
      target.closest("dialog").close()}>Cancel</button>
    </form>`);
}

const showDetail = (id, name) => show(name, () => view`<${Detail} id=${id} />`);

function Detail({ id }) {
  const events = state.events.filter((it) => it.data.id === id && it.id > state.opened);
  const isRemoved = events[0]?.type === "PetRemoved";
  const [{ now, etag } = {}, setRead] = useState();
  useEffect(() => {
    if (!isRemoved) attempt(async () => setRead(await catalogue.readPet(id)));
  }, [events[0]?.id]);
  return view`
    ${isRemoved && view`<p>This animal was removed.</p>`}
    <dl>
      <dt>Id</dt><dd>${id}</dd>
      <dt>Category</dt><dd>${now?.categoryId}</dd>
      <dt>Status</dt><dd>${now && labelOf(now.status)}</dd>
      <dt>ETag</dt><dd><code>${etag}</code></dd>
    </dl>
    <h3>Since this page was opened</h3>
    ${
    events.length === 0 ? view`<p>Nothing has changed.</p>` : view`<${Events} events=${events} />`
  }
    <form method="dialog"><button>Done</button></form>`;
}

function LastEvents() {
  return view`<h2>Last events</h2><${Events} events=${state.events.slice(0, EVENTS_SHOWN)} />`;
}

function Events({ events }) {
  return view`<ol>${
    events.map((event) =>
      view`
    <li key=${event.id}><time datetime=${event.time}>${timeOf(event.time)}</time> ${
        sentenceOf(event)
      }</li>`
    )
  }
  </ol>`;
}

/** The time in the reader's language, with the date if it is not today. */
function timeOf(time) {
  const date = new Date(time);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString([], { timeStyle: "short", ...(isToday || { dateStyle: "short" }) });
}

function sentenceOf({ type, data: { id, name, categoryId, status, previous } }) {
  if (previous === undefined) return `${name} (${id}) was ${KINDS[type]}`;
  const changes = [];
  if ("status" in previous) changes.push(SET_STATUS[status] ?? "has no status any more");
  if ("name" in previous) changes.push(`was renamed ${name}`);
  if ("categoryId" in previous) changes.push(`moved to category ${categoryId}`);
  return `${previous.name ?? name} (${id}) ${changes.join(" and ")}`;
}

/** The events of each of the last 24 hours as bars, and in words. */
function Day() {
  const end = Math.floor(Date.now() / HOUR_MS) + 1;
  const hours = Array.from({ length: 24 }, (_, index) => state.hours.get(end - 24 + index) ?? {});
  const heights = hours.map((counts) =>
    Object.values(counts).reduce((one, other) => one + other, 0)
  );
  const most = Math.max(1, ...heights);
  const words = Object.entries(KINDS).map(([type, word]) => {
    const total = hours.reduce((sum, counts) => sum + (counts[type] ?? 0), 0);
    return [type, `${total.toLocaleString()} ${word}`];
  });
  const timeAt = (index) => timeOf((end - 24 + index) * HOUR_MS);
  const peak = `most of them, ${most.toLocaleString()}, in the hour from ${
    timeAt(heights.indexOf(most))
  }`;
  const bars = hours.flatMap((counts, index) => {
    let y = 60;
    return Object.keys(KINDS).map((type) => {
      const height = (counts[type] ?? 0) / most * 60;
      y -= height;
      return view`<rect class=${type} x=${index * 10 + 1} y=${y} width="8" height=${height} />`;
    });
  });
  return view`
    <h2>Last 24 hours</h2>
    <svg role="img" viewBox="0 0 240 60" preserveAspectRatio="none"
      aria-label=${`${words.map(([, text]) => text).join(", ")}${
    heights.includes(most) ? `; ${peak}` : ""
  }`}>
      ${bars}
    </svg>
    <p class="legend">${words.map(([type, text]) => view`<span class=${type}>${text}</span> `)}</p>
    ${
    state.cutAt &&
    view`<p>There were too many events to count all: those after ${
      timeOf(state.cutAt)
    } are missing.</p>`
  }`;
}
