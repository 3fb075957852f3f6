// The choice of a status.

import { html } from "./elements.js";
import { STATUS_LABELS } from "./statuses.js";

export function StatusOptions() {
  return Object.entries(STATUS_LABELS).map(([status, label]) =>
    html`<option value=${status}>${label}</option>`
  );
}

/** The status as a pill, which changes it. `attributes` are those of the control. */
export function StatusSelect({ status, onPick, ...attributes }) {
  return html`
    <span class="pill choice ${status || "none"}">
      <select value=${status} onChange=${({ target }) => onPick(target.value)} ...${attributes}>
        ${StatusOptions()}
      </select>
    </span>
  `;
}

export function StatusPill(status) {
  return html`<span class="pill ${status || "none"}">${STATUS_LABELS[status]}</span>`;
}
