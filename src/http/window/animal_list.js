// The list of animals. Only the rows in view are drawn, and those that have the focus or are edited.

import { AnimalRow } from "./animal_row.js";
import { loadMore } from "./animals.js";
import { EditRow } from "./edit_row.js";
import { html } from "./elements.js";
import { EmptyList } from "./empty_list.js";
import { showList } from "./navigation.js";
import { FIRST_ROW_INDEX, onRowKey } from "./row_focus.js";

/** As in `window.css`, which shows a row of a narrow page in two lines. The sizes count in the size of the text. */
const NARROW = matchMedia("(width < 37.5rem)");
const NARROW_ROW_REM = 4.5;
const WIDE_ROW_REM = 2.75;

const SKELETON_ROWS = 8;

/** Measures which part of the list is on the screen: see `view` of `state.js`. */
export function measureList() {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const rowHeight = rem * (NARROW.matches ? NARROW_ROW_REM : WIDE_ROW_REM);
  const top = document.getElementById("rows")?.getBoundingClientRect().top ?? 0;
  return { firstRow: Math.floor(-top / rowHeight), rowHeight };
}

/** The row of the animal `focusedId` is drawn, wherever it is. */
export function AnimalList(state, focusedId) {
  const { filter, order } = state;
  return html`
    <div
      role="tabpanel"
      id="animals"
      aria-labelledby="tab-${filter.status}"
      aria-busy=${isWaiting(state)}
      onKeyDown=${onRowKey}
    >
      ${order.length > 0 && Table(state, focusedId)} ${Rest(state)}
    </div>
  `;
}

/** The element that follows the rows, or replaces them. */
function Rest(state) {
  const { end, filter, nextPage, order } = state;
  const isEmpty = order.length === 0;
  if (isWaiting(state)) {
    return isEmpty ? Skeleton(filter) : html`<p class="note">Loading more …</p>`;
  }
  if (nextPage !== undefined) {
    return html`<p class="note"><button onClick=${loadMore}>Load more</button></p>`;
  }
  if (end === Infinity) {
    return html`<p class="note"><button onClick=${() => showList({})}>Try again</button></p>`;
  }
  return isEmpty && EmptyList(state);
}

function isWaiting({ isLoading, openedAt }) {
  return isLoading || openedAt === undefined;
}

function Table(state, focusedId) {
  const { nextPage, order, view } = state;
  const rows = [];
  for (const [row, id] of order.entries()) {
    if (isDrawn(id, row, state, focusedId)) rows.push(Row(id, row, state));
  }
  return html`
    <div role="table" aria-label="Animals" aria-rowcount=${nextPage ? -1 : order.length + 1}>
      <div role="rowgroup" class="head">
        <div role="row" class="columns" aria-rowindex="1">
          <span role="columnheader">Name</span>
          <span role="columnheader" class="number">Id</span>
          <span role="columnheader" class="number">Category</span>
          <span role="columnheader">Status</span>
          <span role="columnheader"><span class="unseen">Actions</span></span>
        </div>
      </div>
      <div role="rowgroup" id="rows" style="height: ${order.length * view.rowHeight}px">
        ${rows}
      </div>
    </div>
  `;
}

function isDrawn(id, row, { edits, view }, focusedId) {
  const rowsInView = innerHeight / view.rowHeight;
  const middleRow = view.firstRow + rowsInView / 2;
  const isNearView = Math.abs(row - middleRow) < rowsInView;
  return isNearView || edits.has(id) || id === focusedId;
}

function Row(id, row, state) {
  const edit = state.edits.get(id);
  return html`
    <div
      role="row"
      class="columns ${edit && "edited"}"
      key=${id}
      data-id=${id}
      style="top: ${row * state.view.rowHeight}px"
      aria-rowindex=${row + FIRST_ROW_INDEX}
    >
      ${edit === undefined ? AnimalRow(state.pets.get(id), state) : EditRow(edit)}
    </div>
  `;
}

function Skeleton({ name }) {
  const rows = Array.from({ length: SKELETON_ROWS }, () => html`<div class="bar"></div>`);
  return html`
    <div class="skeleton">
      <p class="note">${name === "" ? "Loading …" : "Searching …"}</p>
      ${rows}
    </div>
  `;
}
