// The toolbar of the list: the tabs, the filters, and what can be done with the whole list.

import { showAddDialog } from "./add_dialog.js";
import { exportAnimals } from "./export_animals.js";
import { html } from "./elements.js";
import { showImportDialog } from "./import_dialog.js";
import { showList, showTyped } from "./navigation.js";
import { setState, state } from "./state.js";
import { TAB_LABELS } from "./statuses.js";

const SIBLINGS = { ArrowRight: "nextElementSibling", ArrowLeft: "previousElementSibling" };

/** The limit of the interface. */
const LONGEST_SEARCH = 100;

/** A search begins when the reader pauses. */
const TYPING_PAUSE_MS = 150;
let typing;

export function Toolbar(state) {
  return html`
    <div role="tablist" aria-label="Status" onKeyDown=${onTabKey}>
      ${Object.keys(TAB_LABELS).map((status) => Tab(status, state))}
    </div>
    <div class="filters">${Search(state)} ${CategoryFilter(state)}</div>
    <div class="tools">${Tools(state)}</div>
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
      onClick=${() => showList({ status })}
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

function Search({ typed }) {
  return html`
    <input
      type="search"
      maxlength=${LONGEST_SEARCH}
      aria-label="Search by name"
      placeholder="Search by name"
      autocomplete="off"
      value=${typed.name}
      onInput=${({ target }) => showSoon({ name: target.value })}
    />
  `;
}

function CategoryFilter({ typed, filterFault }) {
  return html`
    <span class="field">
      <input
        aria-label="Filter by category"
        placeholder="Category"
        inputmode="numeric"
        autocomplete="off"
        aria-invalid=${filterFault !== undefined}
        aria-describedby="fault-filter"
        value=${typed.categoryId}
        onInput=${({ target }) => showSoon({ categoryId: target.value })}
      />
      <span class="fault" id="fault-filter" role="alert">${filterFault}</span>
    </span>
  `;
}

function showSoon(change) {
  setState({ typed: { ...state.typed, ...change } });
  clearTimeout(typing);
  typing = setTimeout(showTyped, TYPING_PAUSE_MS);
}

function Tools({ key, isExporting }) {
  const mayWrite = key?.readOnly === false;
  return html`
    ${mayWrite && html`<button onClick=${showImportDialog}>Import</button>`}
    <button aria-busy=${isExporting} onClick=${exportAnimals}>
      ${isExporting ? "Exporting …" : "Export"}
    </button>
    ${mayWrite && html`<button class="primary" onClick=${showAddDialog}>Add an animal</button>`}
  `;
}
