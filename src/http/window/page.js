// The page: its header, its parts and its footer.

import { Activity } from "./activity.js";
import { showAddDialog } from "./add_dialog.js";
import { AnimalList } from "./animal_list.js";
import { loadAnimals, loadMore } from "./animals.js";
import { Dialog } from "./dialog.js";
import { html } from "./elements.js";
import { KeyForm } from "./key_form.js";
import { attempt, restart } from "./session.js";
import { TAB_LABELS } from "./statuses.js";

const SIBLINGS = { ArrowRight: "nextSibling", ArrowLeft: "previousSibling" };

/** Returns the elements of that state. The row with `focusedId` is drawn, wherever it is. */
export function Page(state, focusedId) {
  const isOpen = state.openedAt !== undefined;
  return html`
    <header>
      <h1>Animal Store</h1>
      <a href="docs">API reference</a>
      ${isOpen && html`<button onClick=${() => restart({})}>Close</button>`}
    </header>
    ${isOpen ? Store(state, focusedId) : KeyForm()}
    <footer>
      <p role="status"><b>${state.connection}</b> ${state.message}</p>
      ${state.nextPage && html`<button onClick=${loadMore}>Load more</button>`}
    </footer>
    <dialog aria-labelledby="title">${state.dialog && Dialog(state)}</dialog>
  `;
}

function Store(state, focusedId) {
  return html`
    <main>
      <section>
        <div role="tablist" onKeyDown=${onTabKey}>
          ${Object.keys(TAB_LABELS).map((status) => Tab(status, state))}
        </div>
        ${CategoryFilter(state)}
        ${state.mayWrite &&
          html`<button class="primary" onClick=${showAddDialog}>Add an animal</button>`}
        ${AnimalList(state, focusedId)}
      </section>
      ${Activity(state)}
    </main>
  `;
}

function Tab(status, { filter, counts }) {
  const isSelected = status === filter.status;
  return html`
    <button
      role="tab"
      id="tab-${status}"
      aria-controls="animals"
      aria-selected=${isSelected}
      tabindex=${isSelected ? 0 : -1}
      onClick=${() => attempt(() => loadAnimals({ status }))}
    >
      ${TAB_LABELS[status]} <b>${counts[status]?.toLocaleString()}</b>
    </button>
  `;
}

/** The arrow keys go from tab to tab. */
function onTabKey({ key, target }) {
  const tab = target[SIBLINGS[key]];
  if (!tab) return;
  tab.click();
  tab.focus();
}

function CategoryFilter({ filter }) {
  const onInput = ({ target }) => {
    const categoryId = target.value.trim();
    attempt(() => loadAnimals({ categoryId }));
  };
  return html`
    <input
      aria-label="Filter by category"
      placeholder="Filter by category"
      size="14"
      value=${filter.categoryId}
      onInput=${onInput}
    />
  `;
}
