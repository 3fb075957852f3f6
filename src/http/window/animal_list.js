// The list of animals. Only the rows in view are drawn, and those that have the focus or are edited.

import { AnimalRow, EditRow } from "./animal_row.js";
import { html } from "./elements.js";

/** In pixels. Below this width of the page, `window.css` shows a row in two lines. */
const NARROW_WIDTH = 1_088;
const NARROW_ROW_HEIGHT = 112;
const WIDE_ROW_HEIGHT = 60;

/** Measures which part of the list is on the screen: see `view` of `state.js`. */
export function measureList() {
  const rowHeight = innerWidth < NARROW_WIDTH ? NARROW_ROW_HEIGHT : WIDE_ROW_HEIGHT;
  const top = document.getElementById("rows")?.getBoundingClientRect().top ?? 0;
  return { firstRow: Math.floor(-top / rowHeight), rowHeight };
}

export function AnimalList(state, focusedId) {
  const { counts, filter, order, view } = state;
  const rows = [];
  for (const [row, id] of order.entries()) {
    if (isDrawn(id, row, state, focusedId)) rows.push(Row(id, row, state));
  }
  const none = counts[""] === 0 ? "No animals yet." : "No such animals.";
  return html`
    <div role="tabpanel" id="animals" aria-labelledby="tab-${filter.status}">
      <ul id="rows" style="height: ${order.length * view.rowHeight}px">
        ${rows}
      </ul>
      ${order.length === 0 && html`<p>${none}</p>`}
    </div>
  `;
}

function isDrawn(id, row, { edits, view }, focusedId) {
  const rowsInView = innerHeight / view.rowHeight;
  const middleRow = view.firstRow + rowsInView / 2;
  const isNearView = Math.abs(row - middleRow) < rowsInView;
  return isNearView || edits.has(id) || String(id) === focusedId;
}

function Row(id, row, state) {
  const { edits, nextPage, order, pets, view } = state;
  const edited = edits.get(id);
  return html`
    <li
      key=${id}
      data-id=${id}
      style="top: ${row * view.rowHeight}px; height: ${view.rowHeight}px"
      aria-posinset=${row + 1}
      aria-setsize=${nextPage === undefined ? order.length : -1}
    >
      ${edited === undefined ? AnimalRow(pets.get(id), state) : EditRow(edited)}
    </li>
  `;
}
